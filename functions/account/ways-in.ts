import * as z from "zod";
import { accepted, noContent, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { unlinkCodeHost } from "../../shared/identity/code-host/unlink.ts";
import { confirmEmail } from "../../shared/identity/emails/confirm.ts";
import { requestEmailChange } from "../../shared/identity/emails/request.ts";
import { setPassword } from "../../shared/identity/passwords/set.ts";
import { ConfirmEmailRequest, EmailChange, PasswordSet } from "../../shared/identity/schemas.ts";
import { UserRead } from "../../shared/identity/shown.ts";
import { FOLLOWED } from "./followed.ts";

const EmailChangeAccepted = z.object({ message: z.string() }).meta({ id: "EmailChangeAccepted" });
const EmailConfirmed = z.object({ ok: z.literal(true) }).meta({ id: "EmailConfirmed" });
const tag = "Accounts";

export const waysIn = [
  route({
    id: "requestEmailChange",
    method: "post",
    path: "/api/v1/users/me/email",
    tag,
    summary: "Ask for another email address",
    description:
      "Needs the password of an account that has one. A link is mailed to the new address, and word of it to the present " +
      "one; until the link is confirmed nothing changes. It works once, within 24 hours; a newer one replaces it, and a " +
      "changed password or a sign-out everywhere voids it. The answer is the same where another account has the address: " +
      "then its owner is told instead. A wrong password counts as a failed sign-in, with its lockout. An address is sent 5 such " +
      "mails in a day (UTC), by all accounts together: then it is `rate_limited`.",
    auth: "session",
    limit: "auth",
    body: EmailChange,
    returns: { 202: EmailChangeAccepted },
    problems: ["invalid_credentials", "email_taken", "forbidden", "login_locked", "dependency_unavailable"],
    async handler({ ctx, principal, body }) {
      await requestEmailChange(ctx, principal, body);
      return accepted({ message: "If the address can be used, a link to confirm it is on its way there." });
    },
  }),
  route({
    id: "confirmEmail",
    method: "post",
    path: "/api/v1/auth/confirm-email",
    tag,
    summary: "Confirm a new email address with the mailed token",
    description:
      "From then on the account has the address, verified; the former one is told, and links that were mailed there stop " +
      "working. Sessions and API keys go on. Invitations that you accepted under the former one are " +
      "listed under the new one; so are, if the former one was verified, those that you did not, which are revoked. Where " +
      "another account has come to have the address in the meantime, the answer is 409 `email_taken`.",
    auth: "none",
    limit: "auth",
    body: ConfirmEmailRequest,
    returns: { 200: EmailConfirmed },
    problems: ["invalid_token", "email_taken"],
    async handler({ ctx, body }) {
      await confirmEmail(ctx, body.token, FOLLOWED);
      return ok({ ok: true });
    },
  }),
  route({
    id: "setPassword",
    method: "post",
    path: "/api/v1/users/me/password",
    tag,
    summary: "Set a password where there is none yet",
    description:
      "For accounts that sign in by the code host. Ends every other session and tells the account by mail. An account " +
      "with a password changes it by PATCH /api/v1/auth/me.",
    auth: "session",
    limit: "auth",
    body: PasswordSet,
    returns: { 200: UserRead },
    problems: ["weak_password", "password_account"],
    async handler({ ctx, principal, body }) {
      return ok(await setPassword(ctx, principal, body));
    },
  }),
  route({
    id: "unlinkCodeHost",
    method: "delete",
    path: "/api/v1/users/me/codehost",
    tag,
    summary: "Sign in by the code host no longer",
    description:
      "Takes the link to the account at the code host away; 409 `last_way_in` without a password or a passkey. Whoever signs in there " +
      "later with this account's verified address links it again.",
    auth: "session",
    returns: { 204: null },
    problems: ["not_found", "last_way_in"],
    async handler({ ctx, principal }) {
      await unlinkCodeHost(ctx, principal);
      return noContent();
    },
  }),
];
