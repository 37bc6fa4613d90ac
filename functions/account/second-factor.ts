import { created, noContent, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { beginTotp } from "../../shared/identity/second-factor/begin.ts";
import { confirmTotp } from "../../shared/identity/second-factor/confirm.ts";
import { readTotp } from "../../shared/identity/second-factor/read.ts";
import { removeTotp } from "../../shared/identity/second-factor/remove.ts";
import {
  RecoveryCodes,
  SecondFactorCode,
  TotpBegun,
  TotpConfirm,
  TotpRead,
} from "../../shared/identity/second-factor/schemas.ts";

const tag = "Accounts";
const path = "/api/v1/users/me/totp";

export const secondFactor = [
  route({
    id: "readTotp",
    method: "get",
    path,
    tag,
    summary: "Whether an authenticator app is asked for at sign-in",
    auth: "session",
    returns: { 200: TotpRead },
    async handler({ ctx, principal }) {
      return ok(await readTotp(ctx, principal));
    },
  }),
  route({
    id: "beginTotp",
    method: "post",
    path,
    tag,
    summary: "Make a secret for an authenticator app",
    description:
      "Codes by RFC 6238: SHA-1, 6 digits, 30 seconds. Nothing changes before the app's first code is confirmed; until then " +
      "each call makes a new secret in place of the one before.",
    auth: "session",
    returns: { 201: TotpBegun },
    problems: ["second_factor_active"],
    async handler({ ctx, principal }) {
      return created(await beginTotp(ctx, principal));
    },
  }),
  route({
    id: "confirmTotp",
    method: "post",
    path: `${path}/confirm`,
    tag,
    summary: "Ask for the authenticator app at sign-in from now on",
    description:
      "Takes a code of the app that has the secret. The answer has ten recovery codes, each of which gets in once without " +
      "the app; they are stored hashed and not shown again. A reset of the password leaves the second factor in force. API " +
      "keys and open sessions go on as they are.",
    auth: "session",
    body: TotpConfirm,
    returns: { 200: RecoveryCodes },
    problems: ["invalid_second_factor", "not_found"],
    async handler({ ctx, principal, body }) {
      return ok(await confirmTotp(ctx, principal, body));
    },
  }),
  route({
    id: "removeTotp",
    method: "delete",
    path,
    tag,
    summary: "Ask for the authenticator app no longer",
    description:
      "Takes a code of the app or a recovery code. A wrong one counts as a failed sign-in, with its lockout.",
    auth: "session",
    body: SecondFactorCode,
    returns: { 204: null },
    problems: ["invalid_second_factor", "not_found", "login_locked", "dependency_unavailable"],
    async handler({ ctx, principal, body }) {
      await removeTotp(ctx, principal, body);
      return noContent();
    },
  }),
];
