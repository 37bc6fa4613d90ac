import * as z from "zod";
import { wasSpent } from "../../shared/identity/email-token.ts";
import { DeletionPreview, DeletionRead, UserRead } from "../../shared/identity/shown.ts";
import { Layout, personal } from "./layout.tsx";
import { EmailField, NewPasswordField } from "./parts/credentials.tsx";
import { attempt, Form, Refused, Wrong } from "./parts/form.tsx";
import { Moment } from "./parts/moment.tsx";
import { Notice } from "./parts/notice.tsx";
import { Removed } from "./parts/removed.tsx";
import { headOf } from "./parts/signed-in.ts";
import { type View, type Visit, view } from "./parts/view.ts";

/**
 * The pages that mailed links open. Opening one changes nothing, as mail scanners open links too: a button sends the token.
 */

const LABELS = { email: "Email address", new_password: "New password" };

function Token({ token }: { token: string }) {
  return <input type="hidden" name="token" value={token} />;
}

type Head = ReturnType<typeof headOf>;

interface Asked {
  head: Head;
  token: string;
  wrong?: Wrong;
}

function Verify({ head, token, wrong }: Asked) {
  return (
    <Layout title="Confirm your email address" {...head}>
      <h1>Confirm your email address</h1>
      <Refused wrong={wrong} labels={LABELS} />
      {wrong === undefined ? (
        <Form action="/verify-email" button="Confirm the address">
          <Token token={token} />
        </Form>
      ) : (
        <p>
          A link works once, within 24 hours, and a newer one replaces it.{" "}
          <a href="/resend-verification">Get a new link</a>, or go to <a href="/home">your agents</a> if you have
          confirmed the address before.
        </p>
      )}
    </Layout>
  );
}

async function verify({ ctx, c, form, api }: Visit): Promise<Response> {
  const token = form.get("token") ?? "";
  const result = await attempt([], () => api.send("POST", "/api/v1/auth/verify-email", { token }));
  if (result instanceof Wrong && !(await wasSpent(ctx, "verify_email", token)) && !(await isVerified(api))) {
    return personal(c, <Verify head={headOf(c)} token={token} wrong={result} />, result.status);
  }
  return personal(
    c,
    <Layout title="Address confirmed" {...headOf(c)}>
      <h1>Your email address is confirmed</h1>
      <Notice kind="good" alert>
        <p>Thank you. Nothing else is needed.</p>
      </Notice>
      <p>
        <a class="button" href="/home">
          Go to your agents
        </a>
      </p>
    </Layout>,
  );
}

/** Whether the visitor's own address is confirmed, by whatever link. */
async function isVerified(api: Visit["api"]): Promise<boolean> {
  const me = await attempt([], () => api.read("/api/v1/auth/me", UserRead)).catch(() => null);
  return me !== null && !(me instanceof Wrong) && me.email_verified;
}

function Resend({ sent, wrong }: { sent: boolean; wrong?: Wrong }) {
  return (
    <Layout title="A new link" own="">
      <h1>Get a new link</h1>
      <Refused wrong={wrong} labels={LABELS} />
      {sent ? (
        <Notice kind="good" alert>
          <p>If the address is not confirmed yet, a link is on its way to it.</p>
        </Notice>
      ) : (
        <Form action="/resend-verification" button="Send the link again">
          <p>We mail the link that confirms your address once more; earlier links stop working.</p>
        </Form>
      )}
    </Layout>
  );
}

async function resend({ c, api }: Visit): Promise<Response> {
  const result = await attempt([], () => api.send("POST", "/api/v1/auth/resend-verification"));
  if (result instanceof Wrong) return personal(c, <Resend sent={false} wrong={result} />, result.status);
  return personal(c, <Resend sent />);
}

function Forgot({ head, sent, typed, wrong }: { head: Head; sent: boolean; typed?: string; wrong?: Wrong }) {
  return (
    <Layout title={wrong === undefined ? "Forgot the password" : "Error: forgot the password"} {...head}>
      <h1>Forgot the password</h1>
      <Refused wrong={wrong} labels={LABELS} />
      {sent ? (
        <Notice kind="good" alert>
          <p>
            If there is an account with a password for {typed}, a link is on its way. It works once, within an hour. No
            more than five an hour are mailed.
          </p>
        </Notice>
      ) : (
        <Form action="/forgot-password" button="Send me a link">
          <EmailField value={typed} wrong={wrong} />
        </Form>
      )}
      <p>
        <a href="/sign-in">Back to the sign-in</a>
      </p>
    </Layout>
  );
}

async function forgot({ c, form, api }: Visit): Promise<Response> {
  const email = form.get("email") ?? "";
  const result = await attempt(["email"], () => api.send("POST", "/api/v1/auth/forgot-password", { email }));
  if (result instanceof Wrong)
    return personal(c, <Forgot head={headOf(c)} sent={false} typed={email} wrong={result} />, result.status);
  return personal(c, <Forgot head={headOf(c)} sent typed={email} />);
}

function Reset({ head, token, wrong }: Asked) {
  return (
    <Layout title={wrong === undefined ? "Choose a new password" : "Error: choose a new password"} {...head}>
      <h1>Choose a new password</h1>
      <Refused wrong={wrong} labels={LABELS} />
      <Form action="/reset-password" button="Set the password">
        <Token token={token} />
        <NewPasswordField
          name="new_password"
          label={LABELS.new_password}
          note="Every session of the account ends."
          wrong={wrong}
        />
      </Form>
      <p>
        Is the link over an hour old, or used? <a href="/forgot-password">Get a new one</a>.
      </p>
    </Layout>
  );
}

async function reset({ ctx, c, form, api }: Visit): Promise<Response> {
  const [token = "", new_password = ""] = ["token", "new_password"].map((name) => form.get(name) ?? "");
  const result = await attempt(["new_password"], () =>
    api.send("POST", "/api/v1/auth/reset-password", { token, new_password }),
  );
  const before = result instanceof Wrong && (await wasSpent(ctx, "reset_password", token));
  if (result instanceof Wrong && !before)
    return personal(c, <Reset head={headOf(c)} token={token} wrong={result} />, result.status);
  return personal(
    c,
    <Layout title="Password set" {...(before ? headOf(c) : {})}>
      <h1>{before ? "The password was set before" : "The new password is set"}</h1>
      <Notice kind="good" alert>
        <p>
          {before
            ? "It was set after this link was mailed, by it or otherwise. That one holds; nothing was changed now."
            : "You are signed out everywhere."}
        </p>
      </Notice>
      <p>
        <a class="button" href="/sign-in">
          Sign in with it
        </a>
      </p>
    </Layout>,
  );
}

async function Deletion({ visit, token, wrong }: { visit: Visit; token: string; wrong?: Wrong }) {
  const preview = await visit.api.read("/api/v1/users/me/deletion", DeletionPreview);
  return (
    <Layout title="Confirm the deletion" own="">
      <h1>Delete your account</h1>
      <Refused wrong={wrong} labels={LABELS} />
      <Removed preview={preview} />
      <Form action="/confirm-deletion" button="Delete the account in 14 days" danger>
        <Token token={token} />
      </Form>
      <p>
        <a href="/settings">Keep it</a>
      </p>
    </Layout>
  );
}

async function confirmDeletion(visit: Visit): Promise<Response> {
  const { c, form, api } = visit;
  const token = form.get("token") ?? "";
  const sent = await attempt([], async () =>
    DeletionRead.parse(await api.send("POST", "/api/v1/users/me/deletion", { confirmation_token: token })),
  );
  // A form that was sent twice finds its token spent, and the deletion scheduled by the first.
  const result = sent instanceof Wrong ? await api.read("/api/v1/auth/me", UserRead) : sent;
  if (sent instanceof Wrong && result.deletion_scheduled_for === null)
    return personal(c, await Deletion({ visit, token, wrong: sent }), sent.status);
  return personal(
    c,
    <Layout title="Deletion scheduled" own="">
      <h1>Your account will be deleted</h1>
      <Notice alert>
        <p>
          {result.deletion_scheduled_for !== null && (
            <>
              On <Moment time={result.deletion_scheduled_for} />.{" "}
            </>
          )}
          Until then everything works, and you can <a href="/settings/deletion">keep the account</a>.
        </p>
      </Notice>
    </Layout>,
  );
}

const tokenOf = ({ query }: Visit): string => query.get("token") ?? "";

export const mailedLinkPages: readonly View[] = [
  view({
    path: "/verify-email",
    title: "Confirm your email address",
    show: (visit) => personal(visit.c, <Verify head={headOf(visit.c)} token={tokenOf(visit)} />),
    take: verify,
  }),
  view({
    path: "/resend-verification",
    title: "Get a new link",
    async show({ c, api }) {
      await api.read("/api/v1/auth/me", z.unknown());
      return personal(c, <Resend sent={false} />);
    },
    take: resend,
  }),
  view({
    path: "/forgot-password",
    title: "Forgot the password",
    show: ({ c }) => personal(c, <Forgot head={headOf(c)} sent={false} />),
    take: forgot,
  }),
  view({
    path: "/reset-password",
    title: "Choose a new password",
    show: (visit) => personal(visit.c, <Reset head={headOf(visit.c)} token={tokenOf(visit)} />),
    take: reset,
  }),
  view({
    path: "/confirm-deletion",
    title: "Confirm the deletion",
    show: async (visit) => personal(visit.c, await Deletion({ visit, token: tokenOf(visit) })),
    take: confirmDeletion,
  }),
];
