import * as z from "zod";
import { ApiKeyIssued, ApiKeyRead } from "../../shared/identity/api-keys/schemas.ts";
import { Day, Layout, personal } from "./layout.tsx";
import { attempt, Field, Form, KEY, Refused, type Sent, Wrong } from "./parts/form.tsx";
import { Moment } from "./parts/moment.tsx";
import { Empty, Notice, Table } from "./parts/notice.tsx";
import { RowAction } from "./parts/row-action.tsx";
import { ScopeFields, scopeOfForm, scopesInWords } from "./parts/scope-fields.tsx";
import { SettingsNav } from "./parts/settings-nav.tsx";
import { copying, ShownOnce } from "./parts/shown-once.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const LABELS = { name: "Name", scope: "What it may do", scopes: "Only this" };
const API = "/api/v1/api-keys";
const Keys = z.object({ items: z.array(ApiKeyRead) });
type Key = z.output<typeof ApiKeyRead>;

/** Whose keys a page shows: where the page is, and where the keys are made and listed. */
interface Place {
  path: string;
  api: string;
  title: string;
  /** The page in the navigation that it belongs to. */
  own: string;
}

const OWN: Place = { path: "/settings/api-keys", api: API, title: "API keys", own: "/settings" };

function ofWorkspace({ params }: Visit): Place {
  const id = params["team_id"] ?? "";
  return {
    path: `/workspaces/${id}/api-keys`,
    api: `/api/v1/teams/${id}/api-keys`,
    title: "API keys of the workspace",
    own: "/workspaces",
  };
}

interface Outcome extends Sent {
  issued?: z.output<typeof ApiKeyIssued>;
}

/** The key itself: it is shown in this answer alone, and a form that was sent twice has shown it before. */
function Issued({ issued }: { issued: z.output<typeof ApiKeyIssued> }) {
  return (
    <Notice kind="good" alert>
      {issued.key === null ? (
        <p>
          The key “<bdi>{issued.name}</bdi>” was made by the first of two sendings of this form, and was shown there. If
          you did not see it, rotate it to get another one.
        </p>
      ) : (
        <>
          <p>
            <strong>
              The key “<bdi>{issued.name}</bdi>”.
            </strong>{" "}
            It is shown this once: copy it now.
          </p>
          <ShownOnce id="key" label="The key" text={issued.key} />
        </>
      )}
    </Notice>
  );
}

/** Whether a key works, where it does so no more. */
function endOf({ revoked_at, expires_at }: Key, now: Date): "revoked" | "expired" | null {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && Date.parse(expires_at) <= now.getTime() ? "expired" : null;
}

function List({ keys, path, now }: { keys: readonly Key[]; path: string; now: Date }) {
  return (
    <Table
      label="API keys"
      columns={[["Name", "wide"], "Begins with", ["May", "wide"], "Made", "Last used", ["Do", "mute"], ["End", "mute"]]}
    >
      {keys.map((key) => (
        <tr>
          <td class="wide">
            <bdi>{key.name}</bdi>
            {key.expires_at !== null && endOf(key, now) === null && (
              <span class="tag">
                until <Moment time={key.expires_at} />
              </span>
            )}
          </td>
          <td>
            <code>{key.prefix}</code>
          </td>
          <td class="wide">{scopesInWords(key.scopes)}</td>
          <td>
            <Day time={key.created_at} />
          </td>
          <td>{key.last_used_at === null ? "never" : <Day time={key.last_used_at} />}</td>
          <td>
            {endOf(key, now) ?? <RowAction action={path} id={key.id} wish="rotate" label="Rotate" of={key.name} once />}
          </td>
          <td>
            {key.revoked_at === null && (
              <RowAction action={path} id={key.id} wish="revoke" label="Revoke" of={key.name} />
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

async function show({ ctx, c, api }: Visit, place: Place, { issued, typed, wrong }: Outcome = {}): Promise<Response> {
  const { path, title, own } = place;
  const { items } = await api.read(`${place.api}?page_size=100`, Keys);
  return personal(
    c,
    <Layout title={wrong === undefined ? title : `Error: ${title}`} own={own} {...copying(issued?.key)}>
      <h1>{title}</h1>
      {place === OWN ? (
        <SettingsNav current={path} />
      ) : (
        <p>
          They act for <a href={path.replace("/api-keys", "")}>the workspace</a>, which pays for their runs, and stay
          when whoever made them leaves. They see and change what it has, as an editor would, and nothing else.
        </p>
      )}
      {issued !== undefined && <Issued issued={issued} />}
      <Refused wrong={wrong} labels={LABELS} />
      {items.length === 0 ? (
        <Empty>
          <p>There is no key yet. A program sends it in the header X-API-Key.</p>
        </Empty>
      ) : (
        <List keys={items} path={path} now={ctx.now()} />
      )}
      <h2>A new key</h2>
      <Form action={path} button="Make the key" once>
        <Field
          label={LABELS.name}
          name="name"
          value={typed?.get("name") ?? ""}
          hint="What it is for, to tell it apart"
          wrong={wrong}
        />
        <ScopeFields typed={typed ?? new URLSearchParams()} wrong={wrong} />
      </Form>
    </Layout>,
    wrong?.status ?? 200,
  );
}

async function take(visit: Visit, place: Place): Promise<Response> {
  const { form, api } = visit;
  const at = `${API}/${encodeURIComponent(form.get("id") ?? "")}`;
  const wish = form.get("do");
  const result = await attempt(["name", "scope", "scopes"], async () => {
    if (wish === "revoke") {
      await api.send("DELETE", at);
      return null;
    }
    const key = form.get(KEY) ?? undefined;
    if (wish === "rotate") return ApiKeyIssued.parse(await api.send("POST", `${at}/rotate`, {}, key));
    const body = { name: form.get("name") ?? "", ...scopeOfForm(form) };
    return ApiKeyIssued.parse(await api.send("POST", place.api, body, key));
  });
  if (result instanceof Wrong) return show(visit, place, { typed: form, wrong: result });
  return show(visit, place, result === null ? {} : { issued: result });
}

export const apiKeyPages: readonly View[] = [
  view({ path: OWN.path, title: OWN.title, show: (visit) => show(visit, OWN), take: (visit) => take(visit, OWN) }),
  view({
    path: "/workspaces/{team_id}/api-keys",
    title: "API keys of a workspace",
    show: (visit) => show(visit, ofWorkspace(visit)),
    take: (visit) => take(visit, ofWorkspace(visit)),
  }),
];
