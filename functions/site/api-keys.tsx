import * as z from "zod";
import { ApiKeyIssued, ApiKeyRead } from "../../shared/identity/api-keys/schemas.ts";
import { Day, Layout, personal } from "./layout.tsx";
import { attempt, Field, Form, KEY, Refused, type Sent, Wrong } from "./parts/form.tsx";
import { Empty, Notice, Table } from "./parts/notice.tsx";
import { RowAction } from "./parts/row-action.tsx";
import { ScopeFields, scopeOfForm, scopesInWords } from "./parts/scope-fields.tsx";
import { SettingsNav } from "./parts/settings-nav.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const LABELS = { name: "Name", scope: "What it may do", scopes: "Only this" };
const PATH = "/settings/api-keys";
const API = "/api/v1/api-keys";
const Keys = z.object({ items: z.array(ApiKeyRead) });
type Key = z.output<typeof ApiKeyRead>;

interface Outcome extends Sent {
  issued?: z.output<typeof ApiKeyIssued>;
}

/** The key itself: it is shown in this answer alone, and a form that was sent twice has shown it before. */
function Issued({ issued }: { issued: z.output<typeof ApiKeyIssued> }) {
  return (
    <Notice kind="good" alert>
      {issued.key === null ? (
        <p>
          The key “{issued.name}” was made by the first of two sendings of this form, and was shown there. If you did
          not see it, rotate it to get another one.
        </p>
      ) : (
        <>
          <p>
            <strong>The key “{issued.name}”.</strong> It is shown this once: copy it now.
          </p>
          <pre>{issued.key}</pre>
        </>
      )}
    </Notice>
  );
}

function List({ keys }: { keys: readonly Key[] }) {
  return (
    <Table
      label="API keys"
      columns={[["Name", "wide"], "Begins with", ["May", "wide"], "Made", "Last used", ["Do", "mute"], ["End", "mute"]]}
    >
      {keys.map((key) => (
        <tr>
          <td class="wide">
            <bdi>{key.name}</bdi>
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
            {key.revoked_at === null ? (
              <RowAction action={PATH} id={key.id} wish="rotate" label="Rotate" of={key.name} />
            ) : (
              "revoked"
            )}
          </td>
          <td>
            {key.revoked_at === null && (
              <RowAction action={PATH} id={key.id} wish="revoke" label="Revoke" of={key.name} />
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

async function show({ c, api }: Visit, { issued, typed, wrong }: Outcome = {}): Promise<Response> {
  const { items } = await api.read(`${API}?page_size=100`, Keys);
  return personal(
    c,
    <Layout title={wrong === undefined ? "API keys" : "Error: API keys"} own="/settings">
      <h1>API keys</h1>
      <SettingsNav current={PATH} />
      {issued !== undefined && <Issued issued={issued} />}
      <Refused wrong={wrong} labels={LABELS} />
      {items.length === 0 ? (
        <Empty>
          <p>There is no key yet. A program sends it in the header X-API-Key.</p>
        </Empty>
      ) : (
        <List keys={items} />
      )}
      <h2>A new key</h2>
      <Form action={PATH} button="Make the key" once>
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

async function take(visit: Visit): Promise<Response> {
  const { form, api } = visit;
  const at = `${API}/${encodeURIComponent(form.get("id") ?? "")}`;
  const wish = form.get("do");
  const result = await attempt(["name", "scope", "scopes"], async () => {
    if (wish === "revoke") {
      await api.send("DELETE", at);
      return null;
    }
    if (wish === "rotate") return ApiKeyIssued.parse(await api.send("POST", `${at}/rotate`));
    const body = { name: form.get("name") ?? "", ...scopeOfForm(form) };
    return ApiKeyIssued.parse(await api.send("POST", API, body, form.get(KEY) ?? undefined));
  });
  if (result instanceof Wrong) return show(visit, { typed: form, wrong: result });
  return show(visit, result === null ? {} : { issued: result });
}

export const apiKeyPages: readonly View[] = [
  view({ path: PATH, title: "API keys", show: (visit) => show(visit), take }),
];
