import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { codeHostMode } from "../../shared/identity/code-host/code-host.ts";
import type { Context } from "../../shared/platform/context.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { cookieOptions } from "../account/cookies.ts";
import { Layout, personal, sendTo } from "./layout.tsx";
import { attemptCode, CODE_LABELS, CodeField } from "./parts/code.tsx";
import { EmailField, NewPasswordField, PasswordField, UsernameField } from "./parts/credentials.tsx";
import { attempt, Form, Refused, Wrong } from "./parts/form.tsx";
import { Notice } from "./parts/notice.tsx";
import { attemptPasskey, credentialOf, PasskeyForm } from "./parts/passkey-form.tsx";
import { HOME, localPath, withNext } from "./parts/paths.ts";
import { sessionOf } from "./parts/signed-in.ts";
import { type View, type Visit, view } from "./parts/view.ts";
import { PASSKEY } from "./passkey-script.static.ts";

const SIGN_UP = ["email", "username", "password"] as const;
const SIGN_IN = ["email", "password"] as const;
const LABELS = { email: "Email address", username: "Username", password: "Password" };
const CODE_PATH = "/sign-in/code";
const PASSKEY_PATH = "/sign-in/passkey";

/** Remembers during a sign-in at the code host where the visitor wanted to go; only the page after it gets it. */
const NEXT_COOKIE = "service_next";
const NEXT_PATH = "/auth/callback";
const NEXT_SECONDS = 600;

interface Shown {
  next: string;
  codeHost: boolean;
  typed?: URLSearchParams;
  wrong?: Wrong;
}

function CodeHost({ shown }: { shown: boolean }) {
  if (!shown) return null;
  return (
    <p>
      <a class="button quiet" href="/api/v1/auth/codehost">
        Continue with GitHub
      </a>
    </p>
  );
}

function SignIn({ next, codeHost, typed, wrong }: Shown) {
  return (
    <Layout title={wrong === undefined ? "Sign in" : "Error: sign in"} script={PASSKEY}>
      <h1>Sign in</h1>
      <Refused wrong={wrong} labels={LABELS} />
      <Form action={withNext("/sign-in", next)} button="Sign in">
        <EmailField value={typed?.get("email")} wrong={wrong} />
        <PasswordField name="password" label={LABELS.password} wrong={wrong} />
      </Form>
      <PasskeyForm action={withNext(PASSKEY_PATH, next)} wish="get" button="Sign in with a passkey" quiet />
      <CodeHost shown={codeHost} />
      <p>
        <a href="/forgot-password">Forgot the password?</a> No account yet?{" "}
        <a href={withNext("/sign-up", next)}>Create one</a>.
      </p>
    </Layout>
  );
}

function SignUp({ next, codeHost, typed, wrong }: Shown) {
  return (
    <Layout title={wrong === undefined ? "Create an account" : "Error: create an account"}>
      <h1>Create an account</h1>
      <p class="mute">Free: three agents and 50 runs a month, no card.</p>
      <Refused wrong={wrong} labels={LABELS} />
      <Form action={withNext("/sign-up", next)} button="Create the account">
        <EmailField value={typed?.get("email")} wrong={wrong} />
        <UsernameField value={typed?.get("username")} optional wrong={wrong} />
        <NewPasswordField name="password" label={LABELS.password} wrong={wrong} />
      </Form>
      <CodeHost shown={codeHost} />
      <p>
        Have an account already? <a href={withNext("/sign-in", next)}>Sign in</a>.
      </p>
    </Layout>
  );
}

/** What both pages show; where to go afterwards outlives the way to the code host and back. */
function asked({ ctx, c, query }: Visit): Shown {
  const next = localPath(query.get("next"));
  if (next !== HOME) setCookie(c, NEXT_COOKIE, next, cookieOptions(ctx.env, NEXT_PATH, NEXT_SECONDS));
  return { next, codeHost: offersCodeHost(ctx) };
}

function offersCodeHost(ctx: Context): boolean {
  return codeHostMode(ctx) !== "off";
}

/** Whether a sign-in went through: false where it lacks nothing but the second factor. */
async function isWhole(signingIn: Promise<unknown>): Promise<boolean> {
  try {
    await signingIn;
    return true;
  } catch (error) {
    if (error instanceof Problem && error.code === "second_factor_required") return false;
    throw error;
  }
}

async function signIn(visit: Visit): Promise<Response> {
  const { c, form, api } = visit;
  const body = { email: form.get("email") ?? "", password: form.get("password") ?? "" };
  const result = await attempt(SIGN_IN, () => isWhole(api.send("POST", "/api/v1/auth/login", body)));
  if (result === false) return sendTo(c, withNext(CODE_PATH, localPath(visit.query.get("next"))));
  if (!(result instanceof Wrong)) return sendTo(c, localPath(visit.query.get("next")));
  return personal(c, <SignIn {...asked(visit)} typed={form} wrong={result} />, result.status);
}

/** Signs in by what the browser answered for a passkey. */
async function givePasskey(visit: Visit): Promise<Response> {
  const { c, form, api, query } = visit;
  const body = { credential: credentialOf(form) };
  const result = await attemptPasskey([], "Press the button again.", () =>
    api.send("POST", "/api/v1/auth/passkeys", body),
  );
  if (!(result instanceof Wrong)) return sendTo(c, localPath(query.get("next")));
  return personal(c, <SignIn {...asked(visit)} wrong={result} />, result.status);
}

/** The second step. The browser's cookie has the first one, so no password is on the page. */
function Code({ next, session, wrong }: Pick<Shown, "next" | "wrong"> & { session: string }) {
  return (
    <Layout title={wrong === undefined ? "The code of your app" : "Error: the code of your app"}>
      <h1>The code of your app</h1>
      <Refused wrong={wrong} labels={CODE_LABELS} />
      <Form action={withNext(CODE_PATH, next)} button="Sign in">
        <input type="hidden" name="session" value={session} />
        <CodeField hint="The 6 digits that your authenticator app shows, or one of your recovery codes" wrong={wrong} />
      </Form>
      <p>
        <a href={withNext("/sign-in", next)}>Begin again</a>
      </p>
    </Layout>
  );
}

async function giveCode({ c, form, api, query }: Visit): Promise<Response> {
  const next = localPath(query.get("next"));
  const body = { code: form.get("code") ?? "" };
  const result = await attemptCode(() => api.send("POST", "/api/v1/auth/second-factor", body));
  if (!(result instanceof Wrong)) return sendTo(c, next);
  const session = form.get("session") ?? "";
  // A form that was sent twice finds the first step over: the browser has had a new session since it was shown.
  if (result.status === 400 && (sessionOf(c) ?? session) !== session) return sendTo(c, next);
  return personal(c, <Code next={next} session={session} wrong={result} />, result.status);
}

async function signUp(visit: Visit): Promise<Response> {
  const { c, form, api } = visit;
  const [email, password, username] = ["email", "password", "username"].map((name) => form.get(name) ?? "");
  const result = await attempt(SIGN_UP, async () => {
    try {
      await api.send("POST", "/api/v1/auth/register", { email, password, ...(username === "" ? {} : { username }) });
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "email_taken") throw error;
      // A form that was sent twice made the account the first time: who has its password is signed in.
      await api.send("POST", "/api/v1/auth/login", { email, password }).catch(() => {
        throw error;
      });
    }
  });
  if (!(result instanceof Wrong)) return sendTo(c, localPath(visit.query.get("next")));
  return personal(c, <SignUp {...asked(visit)} typed={form} wrong={result} />, result.status);
}

/** What is said of each failure of the code host's; every other is one of ours. */
const FAILURES: Record<string, string> = {
  access_denied: "You did not let GitHub tell us who you are.",
  invalid_state: "This sign-in was not begun in this browser, or over ten minutes ago.",
  email_not_verified:
    "Your primary email address at GitHub is not verified there, or has letters that we can't take. Verify it or choose another one there, then try again.",
  code_host_unavailable: "GitHub does not answer at this moment. Try again in a minute.",
  code_host_not_configured: "Sign-in by GitHub is not set up here. Use email and password.",
};

function callback({ ctx, c, query }: Visit): Response {
  const error = query.get("error");
  const next = localPath(getCookie(c, NEXT_COOKIE));
  if (error === null || error === "second_factor_required") {
    deleteCookie(c, NEXT_COOKIE, { path: NEXT_PATH });
    return sendTo(c, error === null ? next : withNext(CODE_PATH, next));
  }
  return personal(
    c,
    <Layout title="Not signed in">
      <h1>You are not signed in</h1>
      <Notice kind="bad" alert>
        <p>{FAILURES[error] ?? "The sign-in did not come through on our side. Try again in a minute."}</p>
      </Notice>
      <p>
        <a href={withNext("/sign-in", next)}>Back to the sign-in</a>
      </p>
      <CodeHost shown={offersCodeHost(ctx)} />
    </Layout>,
  );
}

async function signOut({ c, api }: Visit): Promise<Response> {
  await api.send("POST", "/api/v1/auth/logout");
  // The cookies are cleared by name: `"cookies"` would take those of neighbours under the same domain, too.
  c.header("Clear-Site-Data", '"cache", "storage"');
  return sendTo(c, "/");
}

export const signInPages: readonly View[] = [
  view({
    path: "/sign-in",
    title: "Sign in",
    show: (visit) => personal(visit.c, <SignIn {...asked(visit)} />),
    take: signIn,
  }),
  view({
    path: PASSKEY_PATH,
    title: "Sign in with a passkey",
    show: ({ c, query }) => sendTo(c, withNext("/sign-in", localPath(query.get("next")))),
    take: givePasskey,
  }),
  view({
    path: CODE_PATH,
    title: "The code of your app",
    show: ({ c, query }) => personal(c, <Code next={localPath(query.get("next"))} session={sessionOf(c) ?? ""} />),
    take: giveCode,
  }),
  view({
    path: "/sign-up",
    title: "Create an account",
    show: (visit) => personal(visit.c, <SignUp {...asked(visit)} />),
    take: signUp,
  }),
  view({ path: NEXT_PATH, title: "After the code host", show: callback }),
  view({
    path: "/sign-out",
    title: "Sign out",
    show: ({ c }) =>
      personal(
        c,
        <Layout title="Sign out">
          <h1>Sign out</h1>
          <p>Ends your session in this browser; other devices stay signed in.</p>
          <Form action="/sign-out" button="Sign out" />
        </Layout>,
      ),
    take: signOut,
  }),
];
