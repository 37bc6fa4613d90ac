import * as z from "zod";
import { WebhookRead, WebhookSecretRead } from "../../shared/webhooks/shown.ts";
import { Layout, personal } from "./layout.tsx";
import { ChooseAgent } from "./parts/choose-agent.tsx";
import { attempt, Form, KEY, Refused, type Sent, Tick, Wrong } from "./parts/form.tsx";
import { looksForAgent, myAgents } from "./parts/my-agents.ts";
import { Empty, Notice, Table } from "./parts/notice.tsx";
import { SettingsNav } from "./parts/settings-nav.tsx";
import { copying } from "./parts/shown-once.tsx";
import { type View, type Visit, view } from "./parts/view.ts";
import { eventsOf, Secret, WEBHOOK_LABELS, WEBHOOK_NAMES, WebhookFields } from "./parts/webhook-fields.tsx";

const PATH = "/settings/webhooks";
const API = "/api/v1/webhooks";
const Webhooks = z.object({ items: z.array(WebhookRead) });
type Webhook = z.output<typeof WebhookRead>;

interface Outcome extends Sent {
  made?: { id: string; secret?: string | null };
}

function List({ webhooks, names }: { webhooks: readonly Webhook[]; names: Map<string, string> }) {
  return (
    <Table label="Webhooks" columns={[["URL", "wide"], ["Events", "wide"], ["Of", "wide"], "Signed", "State"]}>
      {webhooks.map(
        ({ id, url, event_types, description, agent_id, agent_name, has_secret, is_active, disabled_reason }) => (
          <tr>
            <td class="wide">
              <a href={`${PATH}/${id}`}>{url}</a>
              {description !== null && <p class="mute">{description}</p>}
            </td>
            <td class="wide">{event_types.join(", ")}</td>
            <td class="wide">
              {agent_id === null ? (
                "all my agents"
              ) : (
                <a href={`/agents/${agent_id}`}>
                  <bdi>{names.get(agent_id) ?? agent_name ?? "an agent"}</bdi>
                </a>
              )}
            </td>
            <td>{has_secret ? "yes" : "no"}</td>
            <td>{is_active ? "on" : (disabled_reason?.replace("_", " ") ?? "off")}</td>
          </tr>
        ),
      )}
    </Table>
  );
}

async function show({ c, api }: Visit, { made, typed, wrong }: Outcome = {}): Promise<Response> {
  const [{ items }, choices] = await Promise.all([api.read(`${API}?page_size=100`, Webhooks), myAgents(api, typed)]);
  return personal(
    c,
    <Layout title={wrong === undefined ? "Webhooks" : "Error: webhooks"} own="/settings" {...copying(made?.secret)}>
      <h1>Webhooks</h1>
      <SettingsNav current={PATH} />
      {made !== undefined && (
        <Notice kind="good" alert>
          <p>
            The webhook is made: <a href={`${PATH}/${made.id}`}>try it, and see what it delivers</a>
          </p>
          {made.secret !== undefined && <Secret secret={made.secret} />}
        </Notice>
      )}
      <Refused wrong={wrong} labels={WEBHOOK_LABELS} />
      {items.length === 0 ? (
        <Empty>
          <p>There is no webhook yet. One tells a program of yours what happens, as it happens.</p>
        </Empty>
      ) : (
        <List webhooks={items} names={new Map(choices.agents.map(({ id, label }) => [id, label]))} />
      )}
      <h2>A new webhook</h2>
      <Form action={PATH} button="Make the webhook" once>
        <WebhookFields typed={typed ?? new URLSearchParams({ "run.completed": "true" })} wrong={wrong} />
        <ChooseAgent
          label={WEBHOOK_LABELS.agent_id}
          name="agent_id"
          value={typed?.get("agent_id") ?? ""}
          choices={choices}
          others={[["", "all my agents"]]}
          wrong={wrong}
        />
        <Tick
          label="Sign what it delivers"
          name="signed"
          checked={typed === undefined || typed.get("signed") === "true"}
          hint="With a secret that is made for it, by which you know that a delivery is ours."
        />
      </Form>
    </Layout>,
    wrong?.status ?? 200,
  );
}

async function take(visit: Visit): Promise<Response> {
  const { form, api } = visit;
  if (looksForAgent(form)) return show(visit, { typed: form });
  const key = form.get(KEY) ?? undefined;
  const [url, description, agent_id] = ["url", "description", "agent_id"].map((name) => form.get(name)?.trim() ?? "");
  const made = await attempt(WEBHOOK_NAMES, async () => {
    const body = {
      url,
      event_types: eventsOf(form),
      ...(description === "" ? {} : { description }),
      ...(agent_id === "" ? {} : { agent_id }),
    };
    const { id } = WebhookRead.parse(await api.send("POST", API, body, key));
    if (form.get("signed") !== "true") return { id };
    const rotated = await api.send("POST", `${API}/${id}/rotate-secret`, {}, key === undefined ? key : `${key}-secret`);
    return { id, secret: WebhookSecretRead.parse(rotated).secret };
  });
  return show(visit, made instanceof Wrong ? { typed: form, wrong: made } : { made });
}

export const webhookPages: readonly View[] = [
  view({ path: PATH, title: "Webhooks", show: (visit) => show(visit), take }),
];
