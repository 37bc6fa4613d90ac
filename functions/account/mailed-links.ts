import * as z from "zod";
import { accepted, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { mailConfirmationLink } from "../../shared/identity/deletion/confirmation-link.ts";
import { forgotPassword } from "../../shared/identity/passwords/forgot.ts";
import { resendVerification } from "../../shared/identity/resend-verification.ts";
import { resetPassword } from "../../shared/identity/passwords/reset.ts";
import {
  ConfirmationLinkRequest,
  ForgotPasswordRequest,
  ResetPasswordRequest,
  VerifyEmailRequest,
} from "../../shared/identity/schemas.ts";
import { verifyEmail } from "../../shared/identity/verify-email.ts";
import { DISOWNED } from "./disowned.ts";

const MailAccepted = z.object({ message: z.string() }).meta({ id: "MailAccepted" });
const Confirmed = z.object({ ok: z.literal(true) }).meta({ id: "Confirmed" });
const tag = "Accounts";

export const accountMail = [
  route({
    id: "verifyEmail",
    method: "post",
    path: "/api/v1/auth/verify-email",
    tag,
    summary: "Verify an email address with the mailed token",
    description: "A token works once, within 24 hours; a newer one replaces it.",
    auth: "none",
    limit: "auth",
    body: VerifyEmailRequest,
    returns: { 200: Confirmed },
    problems: ["invalid_token"],
    async handler({ ctx, body }) {
      await verifyEmail(ctx, body.token);
      return ok({ ok: true });
    },
  }),
  route({
    id: "resendVerification",
    method: "post",
    path: "/api/v1/auth/resend-verification",
    tag,
    summary: "Mail the verification link again",
    description:
      "Does nothing if the email has been verified already; the answer is the same. An account is mailed 5 new links in a " +
      "day (UTC): then it is `rate_limited`.",
    auth: "session",
    limit: "auth",
    returns: { 202: MailAccepted },
    async handler({ ctx, principal }) {
      await resendVerification(ctx, principal.userId);
      return accepted({ message: "If the email is not verified yet, a link is on its way." });
    },
  }),
  route({
    id: "forgotPassword",
    method: "post",
    path: "/api/v1/auth/forgot-password",
    tag,
    summary: "Ask for a link that resets the password",
    description:
      "The answer is the same for every address. The link works once, within an hour, and older ones as long, until one is used. " +
      "No more than five an hour are mailed.",
    auth: "none",
    limit: "auth",
    body: ForgotPasswordRequest,
    returns: { 202: MailAccepted },
    async handler({ ctx, body }) {
      await forgotPassword(ctx, body.email);
      return accepted({ message: "If there is an account with a password for this email, a link is on its way." });
    },
  }),
  route({
    id: "resetPassword",
    method: "post",
    path: "/api/v1/auth/reset-password",
    tag,
    summary: "Set a new password with a mailed token",
    description:
      "Ends every session of the account, the links that change its address or delete it, and its sign-in lockout. The " +
      "token proves the email: if it was not verified before, it is from now on, and the account's API keys, passkeys, " +
      "authenticator app, OTLP tokens, webhooks and open invitations end too, its workspaces lose their other members, " +
      "its listings and its account at the payment provider are out of use, and a scheduled deletion is called off, since " +
      "whoever made the account may not be its owner. A password that the policy refuses does not use the token up.",
    auth: "none",
    limit: "auth",
    body: ResetPasswordRequest,
    returns: { 200: Confirmed },
    problems: ["invalid_token", "weak_password"],
    async handler({ ctx, body }) {
      await resetPassword(ctx, body, DISOWNED);
      return ok({ ok: true });
    },
  }),
  route({
    id: "mailDeletionConfirmationLink",
    method: "post",
    path: "/api/v1/users/me/deletion/confirmation-link",
    tag,
    summary: "Mail the link that confirms the deletion of an account without a password",
    description: "The link works once, within an hour; a newer one replaces it.",
    auth: "session",
    limit: "auth",
    body: ConfirmationLinkRequest,
    returns: { 202: MailAccepted },
    problems: ["password_account"],
    async handler({ ctx, principal }) {
      await mailConfirmationLink(ctx, principal.userId);
      return accepted({ message: "A link to confirm the deletion is on its way." });
    },
  }),
];
