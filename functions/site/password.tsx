import type * as z from "zod";
import { UserRead } from "../../shared/identity/shown.ts";
import { Layout, personal } from "./layout.tsx";
import { NewPasswordField, PasswordField, Whose } from "./parts/credentials.tsx";
import { attempt, Form, Result, type Sent, Wrong } from "./parts/form.tsx";
import { SettingsNav } from "./parts/settings-nav.tsx";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/settings/password";
const LABELS = { current_password: "Current password", new_password: "New password" };

type User = z.output<typeof UserRead>;

function Password({ user, said, wrong }: Sent & { user: User }) {
  return (
    <Layout title={wrong === undefined ? "Password" : "Error: password"} own="/settings">
      <h1>Password</h1>
      <SettingsNav current={PATH} />
      <Result said={said} wrong={wrong} labels={LABELS} />
      {!user.has_password && <p>Your account has no password. With one you can sign in by your email address, too.</p>}
      <Form action={PATH} button={user.has_password ? "Change the password" : "Set the password"}>
        <Whose email={user.email} />
        {user.has_password && <PasswordField name="current_password" label={LABELS.current_password} wrong={wrong} />}
        <NewPasswordField name="new_password" label={LABELS.new_password} wrong={wrong} />
      </Form>
      {user.has_password && (
        <>
          <h2>Sign-in by GitHub</h2>
          <Form action={PATH} button="Sign in by GitHub no longer">
            <input type="hidden" name="do" value="unlink" />
            <p>Takes the link to your account at GitHub away; your password goes on working.</p>
          </Form>
        </>
      )}
    </Layout>
  );
}

async function show({ c, api }: Visit, sent: Sent = {}): Promise<Response> {
  const user = await api.read("/api/v1/auth/me", UserRead);
  return personal(c, <Password user={user} {...sent} />, sent.wrong?.status ?? 200);
}

async function save(visit: Visit): Promise<Response> {
  const { form, api } = visit;
  const [current, next] = [form.get("current_password"), form.get("new_password") ?? ""];
  const result = await attempt(["current_password", "new_password"], () =>
    current === null
      ? api.send("POST", "/api/v1/users/me/password", { new_password: next })
      : api.send("PATCH", "/api/v1/auth/me", { current_password: current, new_password: next }),
  );
  // A form that was sent twice finds the password that the first has set.
  if (result instanceof Wrong && current === null && result.status === 409)
    return show(visit, {
      said: "Your account has a password by now. If you sent this form twice, it is the one you typed.",
    });
  if (result instanceof Wrong) return show(visit, { wrong: result });
  const done = current === null ? "set" : "changed";
  return show(visit, { said: `The password is ${done}, and every other session has ended. API keys go on working.` });
}

async function unlink(visit: Visit): Promise<Response> {
  const result = await attempt([], () => visit.api.send("DELETE", "/api/v1/users/me/codehost"));
  if (!(result instanceof Wrong)) return show(visit, { said: "You sign in by your password alone now." });
  // A form that was sent twice finds nothing left to take away.
  return show(visit, result.status === 404 ? { said: "No account at GitHub is linked." } : { wrong: result });
}

export const passwordPages: readonly View[] = [
  view({
    path: PATH,
    title: "Password",
    show: (visit) => show(visit),
    take: (visit) => (visit.form.get("do") === "unlink" ? unlink(visit) : save(visit)),
  }),
];
