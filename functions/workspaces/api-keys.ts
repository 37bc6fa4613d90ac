import * as z from "zod";
import { pageOf, paged, pageQuery } from "../../shared/http/paging.ts";
import { created, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { createKey } from "../../shared/identity/api-keys/create.ts";
import { listKeys } from "../../shared/identity/api-keys/list.ts";
import { ApiKeyCreate, ApiKeyIssued, ApiKeyRead } from "../../shared/identity/api-keys/schemas.ts";
import { keysOfWorkspace } from "../../shared/teams/keys.ts";
import { assertTeamRight } from "../../shared/teams/right.ts";

const tag = "Teams";
const path = "/api/v1/teams/{id}/api-keys";
const params = z.object({ id: z.uuid() });

export const workspaceKeys = [
  route({
    id: "createTeamApiKey",
    method: "post",
    path,
    tag,
    summary: "Create an API key of a workspace",
    description:
      "For admins and the owner. The key belongs to the workspace, not to who made it, and stays when that member leaves: it " +
      "sees and changes what the workspace has, as an editor would and within its scopes, and nothing else that is not " +
      "public. What it makes belongs to the workspace, in the name of the workspace's owner, and its runs are taken from the " +
      "workspace's allowance. It ends with the workspace. GET, PATCH, DELETE and rotate are those of every key, at " +
      "/api/v1/api-keys/{id}.",
    auth: "session",
    params,
    body: ApiKeyCreate,
    right: ({ ctx, principal, params: { id } }) => assertTeamRight(ctx, "manage_members", principal, id),
    returns: { 201: ApiKeyIssued },
    located: true,
    problems: ["not_found", "forbidden", "duplicate_name", "quota_exceeded", "conflicting_parameters"],
    idempotent: true,
    async handler({ ctx, principal, params: { id }, body }) {
      const key = await createKey(ctx, principal, body, keysOfWorkspace(principal, id));
      return created(key, `/api/v1/api-keys/${key.id}`);
    },
  }),
  route({
    id: "listTeamApiKeys",
    method: "get",
    path,
    tag,
    summary: "The API keys of a workspace",
    description: "For admins and the owner. Newest first; revoked keys come last.",
    auth: "session",
    params,
    query: pageQuery,
    returns: { 200: pageOf(ApiKeyRead, "ApiKeyPage") },
    problems: ["not_found", "forbidden"],
    async handler({ ctx, principal, params: { id }, query }) {
      return ok(paged(await listKeys(ctx, keysOfWorkspace(principal, id), query), query));
    },
  }),
];
