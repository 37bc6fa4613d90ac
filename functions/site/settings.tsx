import * as z from "zod";
import { DeletionPreview, SessionRead, UserRead } from "../../shared/identity/shown.ts";
import { Day, Layout, personal, sendTo } from "./layout.tsx";
import { PasswordField, UsernameField, Whose } from "./parts/credentials.tsx";
import { fileView } from "./parts/file.ts";
import { attempt, Form, Refused, type Sent, Wrong } from "./parts/form.tsx";
import { Moment } from "./parts/moment.tsx";
import { Notice, Table } from "./parts/notice.tsx";
import { Removed } from "./parts/removed.tsx";
import { RowAction } from "./parts/row-action.tsx";
import { SettingsNav } from "./parts/settings-nav.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

type User = z.output<typeof UserRead>;

const LABELS = {
  username: "Username",
  password: "Password",
};
const Sessions = z.object({ items: z.array(SessionRead) });

const me = ({ api }: Visit): Promise<User> => api.read("/api/v1/auth/me", UserRead);

/** What a settings page knows of the form that was sent to it. */
interface Outcome extends Sent {
  done?: boolean;
}

function Profile({ user, done, typed, wrong }: Outcome & { user: User }) {
  return (
    <Layout title={wrong === undefined ? "Profile" : "Error: profile"} own="/settings">
      <h1>Settings</h1>
      <SettingsNav current="/settings" />
      {done === true && (
        <Notice kind="good" alert>
          <p>Saved.</p>
        </Notice>
      )}
      <Refused wrong={wrong} labels={LABELS} />
      <dl>
        <dt>Email address</dt>
        <dd>
          {user.email}, {user.email_verified ? "confirmed" : <a href="/resend-verification">not confirmed yet</a>};{" "}
          <a href="/settings/email">change it</a>
        </dd>
        <dt>Member since</dt>
        <dd>
          <Day time={user.created_at} />
        </dd>
        <dt>Plan</dt>
        <dd>{user.plan}</dd>
      </dl>
      <Form action="/settings" button="Save">
        <UsernameField value={typed?.get("username") ?? user.username} wrong={wrong} />
      </Form>
      <h2>Your data</h2>
      <p>
        <a href="/settings/export">Download everything</a>: your agents, runs, answers and settings as a ZIP file,
        without secrets.
      </p>
    </Layout>
  );
}

async function saveProfile(visit: Visit): Promise<Response> {
  const { c, form, api } = visit;
  const result = await attempt(["username"], async () =>
    UserRead.parse(await api.send("PATCH", "/api/v1/auth/me", { username: form.get("username") ?? "" })),
  );
  if (!(result instanceof Wrong)) return personal(c, <Profile user={result} done />);
  return personal(c, <Profile user={await me(visit)} typed={form} wrong={result} />, result.status);
}

async function sessions({ c, api }: Visit): Promise<Response> {
  const { items } = await api.read("/api/v1/auth/sessions?page_size=100", Sessions);
  return personal(
    c,
    <Layout title="Sessions" own="/settings">
      <h1>Where you are signed in</h1>
      <SettingsNav current="/settings/sessions" />
      <Table label="Sessions" columns={[["Browser or program", "wide"], "Signed in", "Last used", ["Do", "mute"]]}>
        {items.map(({ id, user_agent, created_at, last_used_at, current }) => (
          <tr>
            <td class="wide">{user_agent ?? "unknown"}</td>
            <td>
              <Day time={created_at} />
            </td>
            <td>
              <Day time={last_used_at} />
            </td>
            <td>
              {current ? (
                "this one"
              ) : (
                <RowAction action="/settings/sessions" id={id} label="Sign out there" of={user_agent ?? "unknown"} />
              )}
            </td>
          </tr>
        ))}
      </Table>
      <Form action="/settings/sessions" button="Sign out everywhere" danger>
        <input type="hidden" name="id" value="all" />
        <p>Ends every session, this one too. API keys go on working.</p>
      </Form>
    </Layout>,
  );
}

async function endSession({ c, form, api }: Visit): Promise<Response> {
  const id = form.get("id") ?? "";
  await api.send("DELETE", id === "all" ? "/api/v1/auth/sessions" : `/api/v1/auth/sessions/${encodeURIComponent(id)}`);
  return sendTo(c, id === "all" ? "/sign-in" : "/settings/sessions");
}

async function deletion(visit: Visit, { done, wrong }: { done?: Done; wrong?: Wrong } = {}): Promise<Response> {
  const [user, preview] = await Promise.all([me(visit), visit.api.read("/api/v1/users/me/deletion", DeletionPreview)]);
  const pending = user.deletion_scheduled_for;
  return personal(
    visit.c,
    <Layout title={wrong === undefined ? "Delete the account" : "Error: delete the account"} own="/settings">
      <h1>Delete the account</h1>
      <SettingsNav current="/settings/deletion" />
      <Refused wrong={wrong} labels={LABELS} />
      {pending !== null ? (
        <>
          <Notice kind="bad" alert>
            <p>
              The account will be deleted on <Moment time={pending} />. Until then everything works.
            </p>
          </Notice>
          <Form action="/settings/deletion" button="Keep the account">
            <input type="hidden" name="do" value="keep" />
          </Form>
        </>
      ) : done !== undefined ? (
        <Notice alert>
          <p>
            {done === "kept" ? "The account stays." : `A link to confirm the deletion is on its way to ${user.email}.`}
          </p>
        </Notice>
      ) : (
        <>
          <Removed preview={preview} />
          <Form
            action="/settings/deletion"
            button={preview.has_password ? "Delete the account in 14 days" : "Mail me the link that confirms it"}
            danger
          >
            <input type="hidden" name="do" value={preview.has_password ? "delete" : "mail"} />
            {preview.has_password && <Whose email={user.email} />}
            {preview.has_password && <PasswordField name="password" label={LABELS.password} wrong={wrong} />}
          </Form>
        </>
      )}
    </Layout>,
    wrong?.status ?? 200,
  );
}

/** What was done about a deletion that leaves the account as it is. */
type Done = "kept" | "mailed" | undefined;

async function changeDeletion(visit: Visit): Promise<Response> {
  const { form, api } = visit;
  const path = "/api/v1/users/me/deletion";
  const result = await attempt(["password"], async (): Promise<Done> => {
    const wish = form.get("do");
    if (wish === "keep") {
      await api.send("DELETE", path);
      return "kept";
    }
    if (wish === "mail") {
      await api.send("POST", `${path}/confirmation-link`);
      return "mailed";
    }
    await api.send("POST", path, { password: form.get("password") ?? "" });
    return undefined;
  });
  return deletion(visit, result instanceof Wrong ? { wrong: result } : { done: result });
}

export const settingsPages: readonly View[] = [
  view({
    path: "/settings",
    title: "Profile",
    show: async (visit) => personal(visit.c, <Profile user={await me(visit)} />),
    take: saveProfile,
  }),
  fileView("/settings/export", "All that an account holds", () => "/api/v1/users/me/export"),
  view({ path: "/settings/sessions", title: "Where you are signed in", show: sessions, take: endSession }),
  view({
    path: "/settings/deletion",
    title: "Delete the account",
    show: (visit) => deletion(visit),
    take: changeDeletion,
  }),
];
