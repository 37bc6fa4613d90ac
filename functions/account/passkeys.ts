import * as z from "zod";
import { paged, pageOf, pageQuery } from "../../shared/http/paging.ts";
import { created, noContent, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { addPasskey } from "../../shared/identity/passkeys/add.ts";
import { listPasskeys } from "../../shared/identity/passkeys/list.ts";
import { creationOptions, requestOptions } from "../../shared/identity/passkeys/options.ts";
import { removePasskey } from "../../shared/identity/passkeys/remove.ts";
import { assertOwnPasskey } from "../../shared/identity/passkeys/right.ts";
import {
  PasskeyCreate,
  PasskeyCreationOptions,
  PasskeyRead,
  PasskeyRequestOptions,
  PasskeySignIn,
} from "../../shared/identity/passkeys/schemas.ts";
import { signInByPasskey } from "../../shared/identity/passkeys/sign-in.ts";
import { TokenResponse } from "../../shared/identity/shown.ts";
import { letIn, userAgentOf } from "./token-response.ts";

const tag = "Accounts";
const path = "/api/v1/users/me/passkeys";

export const passkeys = [
  route({
    id: "listPasskeys",
    method: "get",
    path,
    tag,
    summary: "The account's passkeys",
    description: "The newest first, at most 10.",
    auth: "session",
    query: pageQuery,
    returns: { 200: pageOf(PasskeyRead, "PasskeyPage") },
    async handler({ ctx, principal, query }) {
      return ok(paged(await listPasskeys(ctx, principal, query), query));
    },
  }),
  route({
    id: "beginPasskey",
    method: "post",
    path: `${path}/options`,
    tag,
    summary: "Options for a new passkey",
    description:
      "For `navigator.credentials.create`. The passkey is made for the frontend's host name, so a browser does not take " +
      "them at an IP address. The challenge holds for five minutes and for one answer.",
    auth: "session",
    returns: { 200: PasskeyCreationOptions },
    problems: ["dependency_unavailable"],
    async handler({ ctx, principal }) {
      return ok(await creationOptions(ctx, principal));
    },
  }),
  route({
    id: "addPasskey",
    method: "post",
    path,
    tag,
    summary: "Add a passkey to the account",
    description:
      "WebAuthn with discoverable credentials and user verification; no attestation is asked for. An account has at most " +
      "10. It is told by mail. Where the challenge is unknown, over or was answered before, the answer is 400 `invalid_token`.",
    auth: "session",
    body: PasskeyCreate,
    returns: { 201: PasskeyRead },
    problems: ["invalid_token", "passkey_taken", "quota_exceeded", "dependency_unavailable"],
    async handler({ ctx, principal, body }) {
      return created(await addPasskey(ctx, principal, body));
    },
  }),
  route({
    id: "removePasskey",
    method: "delete",
    path: `${path}/{id}`,
    tag,
    summary: "Remove a passkey",
    description:
      "Sessions that it began go on. The account is told by mail. 409 `last_way_in` where nothing else signs in to it.",
    auth: "session",
    params: z.object({ id: z.uuid() }),
    right: ({ ctx, principal, params: { id } }) => assertOwnPasskey(ctx, principal, id),
    returns: { 204: null },
    problems: ["not_found", "last_way_in"],
    async handler({ ctx, principal, params: { id } }) {
      await removePasskey(ctx, principal, id);
      return noContent();
    },
  }),
  route({
    id: "beginPasskeySignIn",
    method: "post",
    path: "/api/v1/auth/passkeys/options",
    tag,
    summary: "Options for a sign-in by a passkey",
    description:
      "For `navigator.credentials.get`. They name no account: the authenticator knows which one its passkey is of. The " +
      "challenge holds for five minutes and for one answer.",
    auth: "none",
    limit: "auth",
    returns: { 200: PasskeyRequestOptions },
    problems: ["dependency_unavailable"],
    async handler({ ctx }) {
      return ok(await requestOptions(ctx));
    },
  }),
  route({
    id: "signInByPasskey",
    method: "post",
    path: "/api/v1/auth/passkeys",
    tag,
    summary: "Sign in by a passkey",
    description:
      "The authenticator has verified its owner, so no code of an authenticator app is asked for. An answer to another " +
      "site, by an unknown passkey, without verification of the owner, or with a counter that does not go on is 401 " +
      "`invalid_credentials`; a challenge that is unknown, over or was answered before is 400 `invalid_token`.",
    auth: "none",
    limit: "auth",
    body: PasskeySignIn,
    returns: { 200: TokenResponse },
    problems: ["invalid_token", "invalid_credentials", "dependency_unavailable"],
    async handler({ ctx, body, c }) {
      const session = await signInByPasskey(ctx, body, userAgentOf(c));
      return ok(letIn(c, ctx, session));
    },
  }),
];
