import * as z from "zod";
import { PasskeyRead } from "../../shared/identity/passkeys/schemas.ts";
import { Day, Layout, personal } from "./layout.tsx";
import { attempt, Field, Result, type Sent, Wrong } from "./parts/form.tsx";
import { Empty, Table } from "./parts/notice.tsx";
import { attemptPasskey, credentialOf, PasskeyForm } from "./parts/passkey-form.tsx";
import { RowAction } from "./parts/row-action.tsx";
import { scriptView } from "./parts/script.ts";
import { SettingsNav } from "./parts/settings-nav.tsx";
import { type View, type Visit, view } from "./parts/view.ts";
import { PASSKEY, PASSKEY_SOURCE } from "./passkey-script.static.ts";

const PATH = "/settings/passkeys";
const API = "/api/v1/users/me/passkeys";
const TITLE = "Passkeys";
const LABELS = { name: "Name", credential: "The device's answer" };

const Passkeys = z.object({ items: z.array(PasskeyRead) });

function List({ passkeys }: { passkeys: readonly z.output<typeof PasskeyRead>[] }) {
  return (
    <Table label={TITLE} columns={[["Name", "wide"], "Added", "Last used", ["Remove", "mute"]]}>
      {passkeys.map(({ id, name, created_at, last_used_at }) => (
        <tr>
          <td class="wide">
            <bdi>{name}</bdi>
          </td>
          <td>
            <Day time={created_at} />
          </td>
          <td>{last_used_at === null ? "never" : <Day time={last_used_at} />}</td>
          <td>
            <RowAction action={PATH} id={id} label="Remove" of={name} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

async function show({ c, api }: Visit, { said, typed, wrong }: Sent = {}): Promise<Response> {
  const { items } = await api.read(API, Passkeys);
  return personal(
    c,
    <Layout title={wrong === undefined ? TITLE : `Error: ${TITLE.toLowerCase()}`} own="/settings" script={PASSKEY}>
      <h1>{TITLE}</h1>
      <SettingsNav current={PATH} />
      <Result said={said} wrong={wrong} labels={LABELS} />
      <p>
        A passkey signs you in by your fingerprint, your face or the PIN of your device, without a password and without
        a code: nobody can guess it, and no other site can ask for it.
      </p>
      {items.length === 0 ? (
        <Empty>
          <p>There is no passkey yet.</p>
        </Empty>
      ) : (
        <List passkeys={items} />
      )}
      <h2>A new passkey</h2>
      <noscript>
        <p>The device is asked by a script. Let this page run its own, and load it again.</p>
      </noscript>
      <PasskeyForm action={PATH} wish="create" button="Add a passkey">
        <Field
          label={LABELS.name}
          name="name"
          value={typed?.get("name") ?? ""}
          hint="What it is on, to tell it apart: “Ada's laptop”"
          wrong={wrong}
        />
      </PasskeyForm>
    </Layout>,
    wrong?.status ?? 200,
  );
}

async function remove(visit: Visit, id: string): Promise<Response> {
  const result = await attempt([], () => visit.api.send("DELETE", `${API}/${encodeURIComponent(id)}`));
  if (!(result instanceof Wrong)) return show(visit, { said: "It is removed, and signs in no more." });
  // A form that was sent twice finds it removed by the first.
  return show(visit, result.status === 404 ? { said: "It is removed." } : { wrong: result });
}

async function take(visit: Visit): Promise<Response> {
  const { form, api } = visit;
  const id = form.get("id");
  if (id !== null) return remove(visit, id);
  const body = { name: form.get("name") ?? "", credential: credentialOf(form) };
  const then = "If the passkey is in the list below, it is added; else press the button again.";
  const result = await attemptPasskey(["name"], then, () => api.send("POST", API, body));
  if (result instanceof Wrong) return show(visit, { typed: form, wrong: result });
  return show(visit, { said: "The passkey is added. It signs you in from now on." });
}

export const passkeyPages: readonly View[] = [
  view({ path: PATH, title: TITLE, show: (visit) => show(visit), take }),
  scriptView("/passkeys.js", "The script that asks the browser for passkeys", PASSKEY_SOURCE),
];
