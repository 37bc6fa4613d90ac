import { wasSpent } from "../../shared/identity/email-token.ts";
import { UserRead } from "../../shared/identity/shown.ts";
import { Layout, personal } from "./layout.tsx";
import { PasswordField, Whose } from "./parts/credentials.tsx";
import { attempt, Field, Form, Refused, Result, type Sent, Wrong } from "./parts/form.tsx";
import { Notice } from "./parts/notice.tsx";
import { SettingsNav } from "./parts/settings-nav.tsx";
import { headOf } from "./parts/signed-in.ts";
import { type View, type Visit, view } from "./parts/view.ts";

const PATH = "/settings/email";
const LABELS = { email: "New email address", password: "Password" };

async function show({ c, api }: Visit, { said, typed, wrong }: Sent = {}): Promise<Response> {
  const user = await api.read("/api/v1/auth/me", UserRead);
  return personal(
    c,
    <Layout title={wrong === undefined ? "Email address" : "Error: email address"} own="/settings">
      <h1>Email address</h1>
      <SettingsNav current="/settings" />
      <Result said={said} wrong={wrong} labels={LABELS} />
      <p>The address of your account is {user.email}.</p>
      <Form action={PATH} button="Mail me a link to confirm it">
        {user.has_password && <Whose email={user.email} />}
        <Field
          label={LABELS.email}
          name="email"
          type="email"
          autocomplete="email"
          value={typed?.get("email")}
          hint="It is changed once you follow the link that is mailed there"
          wrong={wrong}
        />
        {user.has_password && <PasswordField name="password" label={LABELS.password} wrong={wrong} />}
      </Form>
      <p>
        <a href="/settings">Keep the address</a>
      </p>
    </Layout>,
    wrong?.status ?? 200,
  );
}

async function request(visit: Visit): Promise<Response> {
  const { form, api } = visit;
  const [email, password] = [form.get("email") ?? "", form.get("password")];
  const body = { email, ...(password === null ? {} : { password }) };
  const result = await attempt(["email", "password"], () => api.send("POST", "/api/v1/users/me/email", body));
  if (result instanceof Wrong) return show(visit, { typed: form, wrong: result });
  return show(visit, { said: `If ${email} can be used, a link is on its way there. It works once, within 24 hours.` });
}

/** Opening the mailed link changes nothing, as mail scanners open links too: a button sends the token. */
function Confirm({ head, token, wrong }: { head: ReturnType<typeof headOf>; token: string; wrong?: Wrong }) {
  return (
    <Layout title={wrong === undefined ? "Confirm your new address" : "Error: confirm your new address"} {...head}>
      <h1>Confirm your new email address</h1>
      <Refused wrong={wrong} labels={{}} />
      {wrong === undefined ? (
        <Form action="/confirm-email" button="Use this address">
          <input type="hidden" name="token" value={token} />
        </Form>
      ) : (
        <p>
          A link works once, within 24 hours, and a newer one replaces it. Look at <a href="/settings">your settings</a>{" "}
          if you have confirmed the address before, or <a href={PATH}>get a new link</a>.
        </p>
      )}
    </Layout>
  );
}

async function confirm({ ctx, c, form, api }: Visit): Promise<Response> {
  const token = form.get("token") ?? "";
  const result = await attempt([], () => api.send("POST", "/api/v1/auth/confirm-email", { token }));
  if (result instanceof Wrong && !(await wasSpent(ctx, "confirm_email", token)))
    return personal(c, <Confirm head={headOf(c)} token={token} wrong={result} />, result.status);
  return personal(
    c,
    <Layout title="Address changed" {...headOf(c)}>
      <h1>Your email address is changed</h1>
      <Notice kind="good" alert>
        <p>From now on you sign in with it, and mails go there.</p>
      </Notice>
      <p>
        <a class="button" href="/settings">
          Go to the settings
        </a>
      </p>
    </Layout>,
  );
}

export const emailPages: readonly View[] = [
  view({ path: PATH, title: "Email address", show: (visit) => show(visit), take: request }),
  view({
    path: "/confirm-email",
    title: "Confirm your new email address",
    show: ({ c, query }) => personal(c, <Confirm head={headOf(c)} token={query.get("token") ?? ""} />),
    take: confirm,
  }),
];
