import type * as z from "zod";
import { NotificationsRead } from "../../shared/identity/notifications/schemas.ts";
import { SECURITY, SWITCHES } from "../../shared/mail/notices.ts";
import { Layout, personal } from "./layout.tsx";
import { attempt, Form, Result, type Sent, Tick, Wrong } from "./parts/form.tsx";
import { SettingsNav } from "./parts/settings-nav.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/settings/notifications";
const API = "/api/v1/users/me/notifications";

type Notifications = z.output<typeof NotificationsRead>;

const isOn = (notifications: Notifications, kind: string): boolean =>
  new Map(Object.entries(notifications)).get(kind) ?? true;

function Page({ notifications, said, wrong }: Sent & { notifications: Notifications }) {
  return (
    <Layout title={wrong === undefined ? "Notifications" : "Error: notifications"} own="/settings">
      <h1>Notifications</h1>
      <SettingsNav current={PATH} />
      <Result said={said} wrong={wrong} labels={{}} />
      <Form action={PATH} button="Save">
        <fieldset>
          <legend>Send me a mail when</legend>
          {Object.entries(SWITCHES).map(([kind, told]) => (
            <Tick label={told} name={kind} checked={isOn(notifications, kind)} />
          ))}
        </fieldset>
      </Form>
      <h2>Always on</h2>
      <p>These protect the account, and come whatever is switched off:</p>
      <ul>
        {Object.values(SECURITY).map((told) => (
          <li>{told}</li>
        ))}
      </ul>
    </Layout>
  );
}

async function show({ c, api }: Visit): Promise<Response> {
  return personal(c, <Page notifications={await api.read(API, NotificationsRead)} />);
}

/** A box that is not ticked sends nothing, so each switch is sent as the form shows it: sending it twice changes no more. */
async function save(visit: Visit): Promise<Response> {
  const { c, form, api } = visit;
  const wanted = Object.fromEntries(Object.keys(SWITCHES).map((kind) => [kind, form.get(kind) === "true"]));
  const result = await attempt([], async () => NotificationsRead.parse(await api.send("PATCH", API, wanted)));
  if (!(result instanceof Wrong)) return personal(c, <Page notifications={result} said="Saved." />);
  return personal(c, <Page notifications={await api.read(API, NotificationsRead)} wrong={result} />, result.status);
}

export const notificationPages: readonly View[] = [view({ path: PATH, title: "Notifications", show, take: save })];
