import * as z from "zod";
import { DeliveryRead, WebhookRead, WebhookSecretRead } from "../../shared/webhooks/shown.ts";
import { Layout, personal, sendTo } from "./layout.tsx";
import { Before, heldBefore } from "./parts/before.tsx";
import { mayIn } from "./parts/may.ts";
import { Moment } from "./parts/moment.tsx";
import { attempt, Form, KEY, Result, type Sent, Tick, Wrong } from "./parts/form.tsx";
import { type Column, Empty, Notice, Table } from "./parts/notice.tsx";
import { pageIn } from "./parts/pager.tsx";
import { RowAction } from "./parts/row-action.tsx";
import { SettingsNav } from "./parts/settings-nav.tsx";
import { copying } from "./parts/shown-once.tsx";
import { unless } from "./parts/unless.ts";
import { type View, type Visit, view } from "./parts/view.ts";
import { eventsOf, Secret, WEBHOOK_LABELS, WEBHOOK_NAMES, WebhookFields } from "./parts/webhook-fields.tsx";

const LIST = "/settings/webhooks";
const PAGE = 50;
const COLUMNS: readonly Column[] = ["When", "Event", ["Attempt", "number"], ["Outcome", "wide"], ["Took", "number"]];
const STATES = { receiver_gone: "the receiver said that it is gone", receiver_failing: "the receiver kept failing" };

const Deliveries = z.object({ items: z.array(DeliveryRead) });
type Delivery = z.output<typeof DeliveryRead>;
type Webhook = z.output<typeof WebhookRead>;

interface Outcome extends Sent {
  secret?: string | null;
}

/** How an attempt went, in one line. */
function outcomeOf({ status, response_status, failure_detail }: Delivery): string {
  const answer = response_status === null ? failure_detail : `status ${response_status}`;
  return answer === null ? status : `${status}: ${answer}`;
}

/** What was delivered; with a way to send it again, for those who may. */
function Log({ deliveries, path, again }: { deliveries: readonly Delivery[]; path: string; again: boolean }) {
  return (
    <Table label="Deliveries" columns={again ? [...COLUMNS, ["Do", "mute"]] : COLUMNS}>
      {deliveries.map((delivery) => {
        const { id, event_type, attempt: number, attempted_at, next_attempt_at, duration_ms } = delivery;
        const time = attempted_at ?? next_attempt_at;
        return (
          <tr>
            <td>
              {time !== null && <Moment time={time} />}
              {attempted_at === null && <span class="tag">due</span>}
            </td>
            <td>{event_type}</td>
            <td class="number">{number}</td>
            <td class="wide">{outcomeOf(delivery)}</td>
            <td class="number">{duration_ms === null ? "–" : `${duration_ms} ms`}</td>
            {again && (
              <td>
                <RowAction action={path} id={id} wish="redeliver" label="Deliver again" of={event_type} once />
              </td>
            )}
          </tr>
        );
      })}
    </Table>
  );
}

/** The webhook to members of its workspace who may see it, not change it. */
function Shown({ webhook: { url, event_types, description, has_secret, is_active } }: { webhook: Webhook }) {
  return (
    <>
      <dl>
        <dt>URL</dt>
        <dd>{url}</dd>
        <dt>Events</dt>
        <dd>{event_types.join(", ")}</dd>
        {description !== null && (
          <>
            <dt>Note</dt>
            <dd dir="auto">{description}</dd>
          </>
        )}
        <dt>Signed</dt>
        <dd>{has_secret ? "yes" : "no"}</dd>
        <dt>State</dt>
        <dd>{is_active ? "on" : "off"}</dd>
      </dl>
      <p>Your role in its workspace lets you see this webhook, not change it. Ask an admin of the workspace.</p>
    </>
  );
}

/** What ends or replaces what the webhook has. */
function Further({ webhook: { has_secret }, path }: { webhook: Webhook; path: string }) {
  return (
    <>
      <h2>Secret</h2>
      <Form action={path} button={has_secret ? "Replace the secret" : "Make a secret"} once>
        <input type="hidden" name="do" value="rotate" />
        <p>Every attempt from then on is signed with it, those that wait included.</p>
      </Form>
      <h2>Delete it</h2>
      <Form action={path} button="Delete the webhook" danger>
        <input type="hidden" name="do" value="delete" />
        <p>Its log goes with it.</p>
      </Form>
    </>
  );
}

function typedOf({ url, description, event_types, is_active }: Webhook): URLSearchParams {
  const ticked = [...event_types, ...(is_active ? ["is_active"] : [])].map((name) => [name, "true"] as const);
  return new URLSearchParams({ url, description: description ?? "", ...Object.fromEntries(ticked) });
}

async function show({ c, api, params, query }: Visit, outcome: Outcome = {}): Promise<Response> {
  const { said, secret, typed, wrong } = outcome;
  const at = `/api/v1/webhooks/${params["webhook_id"]}`;
  const page = pageIn(query);
  const [webhook, { items }] = await Promise.all([
    api.read(at, WebhookRead),
    api.read(`${at}/deliveries?page=${page}&page_size=${PAGE}`, Deliveries),
  ]);
  const mayEdit = await mayIn(api, webhook.team_id, "edit");
  const path = `${LIST}/${webhook.id}`;
  const [held, sent] = [typedOf(webhook), typed?.has("url") === true ? typed : undefined];
  const values = sent ?? held;
  return personal(
    c,
    <Layout title={wrong === undefined ? "Webhook" : "Error: webhook"} own="/settings" {...copying(secret)}>
      <h1>Webhook</h1>
      <SettingsNav current={LIST} />
      <Result said={said} wrong={wrong} labels={WEBHOOK_LABELS}>
        {secret !== undefined && <Secret secret={secret} />}
      </Result>
      {webhook.disabled_reason !== null && (
        <Notice kind="bad">
          <p>
            It was turned off: {STATES[webhook.disabled_reason]}. Mend the receiver, turn it on again, and deliver again
            what was missed before. What happens while it is off is neither sent nor kept.
          </p>
        </Notice>
      )}
      {mayEdit ? (
        <Form action={path} button="Save">
          <Before held={held} typed={sent} />
          <WebhookFields typed={values} wrong={wrong} />
          <Tick label="It is on" name="is_active" checked={values.get("is_active") === "true"} />
        </Form>
      ) : (
        <Shown webhook={webhook} />
      )}
      <h2>Deliveries of the last 30 days</h2>
      {mayEdit && webhook.is_active && (
        <Form action={path} button="Send a ping now">
          <input type="hidden" name="do" value="ping" />
        </Form>
      )}
      {items.length === 0 ? (
        <Empty>
          <p>{page === 1 ? "Nothing was delivered yet." : "There are no older ones."}</p>
        </Empty>
      ) : (
        <Log deliveries={items} path={path} again={mayEdit && webhook.is_active} />
      )}
      {items.length === PAGE && (
        <p>
          <a href={`${path}?page=${page + 1}`}>Older deliveries</a>
        </p>
      )}
      {mayEdit && <Further webhook={webhook} path={path} />}
    </Layout>,
    wrong?.status ?? 200,
  );
}

/**
 * What was changed in the form, as the interface takes it. What was left as it stood is left out: a webhook that was turned
 * off after the page was opened stays off.
 */
function changesOf(form: URLSearchParams): Record<string, unknown> {
  const asTyped = (from: URLSearchParams) => {
    const text = (name: string) => from.get(name)?.trim() ?? "";
    return {
      url: text("url"),
      description: text("description") === "" ? null : text("description"),
      event_types: eventsOf(from),
      is_active: from.get("is_active") === "true",
    };
  };
  const before = new Map(Object.entries(asTyped(heldBefore(form))).map(([name, value]) => [name, String(value)]));
  return Object.fromEntries(
    Object.entries(asTyped(form)).filter(([name, value]) => String(value) !== before.get(name)),
  );
}

/** What a button does and says then; null once the webhook is gone. */
async function act({ form, api }: Visit, at: string): Promise<Outcome | null> {
  const wish = form.get("do");
  if (wish === "delete") {
    await unless("not_found", api.send("DELETE", at));
    return null;
  }
  if (wish === "rotate") {
    const rotated = await api.send("POST", `${at}/rotate-secret`, {}, form.get(KEY) ?? undefined);
    return { said: "The secret is replaced.", secret: WebhookSecretRead.parse(rotated).secret };
  }
  if (wish === "ping") {
    return { said: `Sent: ${outcomeOf(DeliveryRead.parse(await api.send("POST", `${at}/test`)))}` };
  }
  if (wish === "redeliver") {
    await api.send(
      "POST",
      `${at}/deliveries/${encodeURIComponent(form.get("id") ?? "")}/redeliver`,
      {},
      form.get(KEY) ?? undefined,
    );
    return { said: "It is being delivered again: look at the log in a moment." };
  }
  const changes = changesOf(form);
  if (Object.keys(changes).length > 0) await api.send("PATCH", at, changes);
  return { said: "Saved." };
}

async function take(visit: Visit): Promise<Response> {
  const at = `/api/v1/webhooks/${visit.params["webhook_id"]}`;
  const result = await attempt(WEBHOOK_NAMES, () => act(visit, at));
  if (result instanceof Wrong) return show(visit, { typed: visit.form, wrong: result });
  return result === null ? sendTo(visit.c, LIST) : show(visit, result);
}

export const oneWebhookPages: readonly View[] = [
  view({ path: `${LIST}/{webhook_id}`, title: "A webhook", show: (visit) => show(visit), take }),
];
