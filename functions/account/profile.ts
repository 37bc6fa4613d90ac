import * as z from "zod";
import { pageOf, paged, pageQuery } from "../../shared/http/paging.ts";
import { accepted, noContent, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { previewDeletion } from "../../shared/identity/deletion/preview.ts";
import { restoreAccount } from "../../shared/identity/deletion/restore.ts";
import { requestDeletion } from "../../shared/identity/deletion/schedule.ts";
import { DeletionRequest, UserUpdate } from "../../shared/identity/schemas.ts";
import { DeletionPreview, DeletionRead, SessionRead, UserRead } from "../../shared/identity/shown.ts";
import { listSignedIn } from "../../shared/identity/sessions/list.ts";
import { assertOwnSession } from "../../shared/identity/sessions/right.ts";
import { signOut, signOutEverywhere } from "../../shared/identity/sessions/end.ts";
import { applyTeamOverride } from "../../shared/identity/team-override.ts";
import { updateAccount } from "../../shared/identity/update-account.ts";
import { clearSessionCookies } from "./cookies.ts";

const tag = "Accounts";

export const account = [
  route({
    id: "updateMe",
    method: "patch",
    path: "/api/v1/auth/me",
    tag,
    summary: "Change username or password",
    description:
      "A new password needs the current one, ends every other session of the account and voids reset links that were " +
      "mailed before; API keys keep working. A wrong current password counts as a failed sign-in, with its lockout; the same " +
      "change by the same session again, within minutes, changes nothing and is 200. " +
      "An account that signs in through its code host has no password to change: 403.",
    auth: "session",
    body: UserUpdate,
    returns: { 200: UserRead },
    problems: ["invalid_credentials", "weak_password", "username_taken", "forbidden", "login_locked"],
    async handler({ ctx, principal, body }) {
      return ok(await updateAccount(ctx, principal, body));
    },
  }),
  route({
    id: "applyTeamOverride",
    method: "post",
    path: "/api/v1/auth/apply-team-override",
    tag,
    summary: "Take up the Team plan that the operator granted",
    description:
      "For accounts with a verified email on the operator's list, unless their deletion is pending; everybody else " +
      "gets the same 403. Enterprise is never downgraded.",
    auth: "session",
    returns: { 200: UserRead },
    problems: ["forbidden"],
    async handler({ ctx, principal }) {
      return ok(await applyTeamOverride(ctx, principal.userId));
    },
  }),
  route({
    id: "listSessions",
    method: "get",
    path: "/api/v1/auth/sessions",
    tag,
    summary: "Where the account is signed in",
    description: "Only sessions that are still valid, the most recently used first.",
    auth: "session",
    query: pageQuery,
    returns: { 200: pageOf(SessionRead, "SessionPage") },
    async handler({ ctx, principal, query }) {
      return ok(paged(await listSignedIn(ctx, principal, query), query));
    },
  }),
  route({
    id: "endSession",
    method: "delete",
    path: "/api/v1/auth/sessions/{id}",
    tag,
    summary: "Sign out one session",
    description:
      "Its access tokens and its refresh credential stop working at once. Doing it again changes nothing. If it is " +
      "the session of this very request, both cookies are cleared.",
    auth: "session",
    params: z.object({ id: z.uuid() }),
    right: ({ ctx, principal, params: { id } }) => assertOwnSession(ctx, principal, id),
    returns: { 204: null },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { id }, c }) {
      await signOut(ctx, principal.userId, id);
      if (id.toLowerCase() === principal.sessionId) clearSessionCookies(c, ctx.env);
      return noContent();
    },
  }),
  route({
    id: "endSessions",
    method: "delete",
    path: "/api/v1/auth/sessions",
    tag,
    summary: "Sign out everywhere",
    description:
      "Ends every session of the account at once, including this one, and clears both cookies. API keys keep working.",
    auth: "session",
    returns: { 204: null },
    async handler({ ctx, principal, c }) {
      await signOutEverywhere(ctx, principal.userId);
      clearSessionCookies(c, ctx.env);
      return noContent();
    },
  }),
  route({
    id: "previewDeletion",
    method: "get",
    path: "/api/v1/users/me/deletion",
    tag,
    summary: "What a deletion of the account would remove",
    description:
      "Counts everything that a deletion removes or makes anonymous, also in workspaces that the account owns: " +
      "agents (including deactivated ones) and their runs, and keys (including revoked ones).",
    auth: "session",
    returns: { 200: DeletionPreview },
    async handler({ ctx, principal }) {
      return ok(await previewDeletion(ctx, principal.userId));
    },
  }),
  route({
    id: "requestDeletion",
    method: "post",
    path: "/api/v1/users/me/deletion",
    tag,
    summary: "Schedule the account for deletion",
    description:
      "Needs the password, or for an account without one the token of the mailed confirmation link (1 hour, once). " +
      "Starts a grace period of 14 days, in which everything keeps working and the deletion can be cancelled; asking " +
      "again keeps the date. After it, counted runs of public agents and their signed evidence are kept without a " +
      "name, and everything else is removed. An account that owns a workspace with other members gets 409. A wrong " +
      "password counts as a failed sign-in, with its lockout.",
    auth: "session",
    body: DeletionRequest,
    returns: { 202: DeletionRead },
    problems: [
      "invalid_credentials",
      "invalid_token",
      "workspace_ownership",
      "conflicting_parameters",
      "forbidden",
      "login_locked",
    ],
    async handler({ ctx, principal, body }) {
      return accepted(await requestDeletion(ctx, principal.userId, body));
    },
  }),
  route({
    id: "cancelDeletion",
    method: "delete",
    path: "/api/v1/users/me/deletion",
    tag,
    summary: "Cancel the deletion",
    description: "Needs no second factor. An account without a pending deletion is left unchanged.",
    auth: "session",
    returns: { 200: DeletionRead },
    async handler({ ctx, principal }) {
      return ok(await restoreAccount(ctx, principal.userId));
    },
  }),
];
