import * as z from "zod";
import { pageOf, paged, pageQuery } from "../../shared/http/paging.ts";
import { created, noContent, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { createKey } from "../../shared/identity/api-keys/create.ts";
import { keysOfAccount } from "../../shared/identity/api-keys/holder.ts";
import { listKeys } from "../../shared/identity/api-keys/list.ts";
import { readKey } from "../../shared/identity/api-keys/read.ts";
import { revokeKey } from "../../shared/identity/api-keys/revoke.ts";
import { rotateKey } from "../../shared/identity/api-keys/rotate.ts";
import { ApiKeyCreate, ApiKeyIssued, ApiKeyRead, ApiKeyUpdate } from "../../shared/identity/api-keys/schemas.ts";
import { updateKey } from "../../shared/identity/api-keys/update.ts";
import { managedKeys } from "../../shared/teams/keys.ts";

const tag = "Keys";
const params = z.object({ id: z.uuid() });

export const apiKeys = [
  route({
    id: "createApiKey",
    method: "post",
    path: "/api/v1/api-keys",
    tag,
    summary: "Create an API key",
    description:
      "The key is shown in this answer alone, as `key`; a replay of the answer has null there, and rotating the key gives " +
      "another one. An account has at most 100 keys, not counting revoked ones, and their names are unique, ignoring case. " +
      "Limits: 1 to 6,000 requests a minute (default 60), 1 to 1,000,000 a day (default 10,000).",
    auth: "session",
    body: ApiKeyCreate,
    returns: { 201: ApiKeyIssued },
    located: true,
    problems: ["duplicate_name", "quota_exceeded", "conflicting_parameters"],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      const key = await createKey(ctx, principal, body);
      return created(key, `/api/v1/api-keys/${key.id}`);
    },
  }),
  route({
    id: "listApiKeys",
    method: "get",
    path: "/api/v1/api-keys",
    tag,
    summary: "The account's API keys",
    description: "Newest first; revoked keys come last.",
    auth: "session",
    query: pageQuery,
    returns: { 200: pageOf(ApiKeyRead, "ApiKeyPage") },
    async handler({ ctx, principal, query }) {
      return ok(paged(await listKeys(ctx, keysOfAccount(principal.userId), query), query));
    },
  }),
  route({
    id: "readApiKey",
    method: "get",
    path: "/api/v1/api-keys/{id}",
    tag,
    summary: "One API key",
    description: "One of the account's own, or of a workspace in which the caller is at least an admin.",
    auth: "session",
    params,
    returns: { 200: ApiKeyRead },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { id } }) {
      return ok(await readKey(ctx, managedKeys(principal), id));
    },
  }),
  route({
    id: "updateApiKey",
    method: "patch",
    path: "/api/v1/api-keys/{id}",
    tag,
    summary: "Change an API key",
    description:
      "Changes the fields that are given: `rate_limit_per_minute` from 1 to 6,000, `quota_per_day` from 1 to " +
      "1,000,000, `expires_at` in the future or null for never. The change applies from the next request on, or " +
      "within a minute if the key cache can't be reached at that moment. A revoked key is 409.",
    auth: "session",
    params,
    body: ApiKeyUpdate,
    right: ({ ctx, principal, params: { id } }) => readKey(ctx, managedKeys(principal), id),
    returns: { 200: ApiKeyRead },
    problems: ["not_found", "duplicate_name", "key_inactive"],
    async handler({ ctx, principal, params: { id }, body }) {
      return ok(await updateKey(ctx, managedKeys(principal), id, body));
    },
  }),
  route({
    id: "revokeApiKey",
    method: "delete",
    path: "/api/v1/api-keys/{id}",
    tag,
    summary: "Revoke an API key",
    description:
      "The key stops working at once, for reads within a minute if the key cache can't be reached at that moment; what " +
      "it began to send before changes nothing any more. It stays in the list with `revoked_at`. Revoking it again " +
      "changes nothing.",
    auth: "session",
    params,
    right: ({ ctx, principal, params: { id } }) => readKey(ctx, managedKeys(principal), id),
    returns: { 204: null },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { id } }) {
      await revokeKey(ctx, managedKeys(principal), id);
      return noContent();
    },
  }),
  route({
    id: "rotateApiKey",
    method: "post",
    path: "/api/v1/api-keys/{id}/rotate",
    tag,
    summary: "Replace an API key by a new one",
    description:
      "The new key is shown in this answer alone, with null in a replay, and works at once: who lost the answer rotates once " +
      "more, under another `Idempotency-Key`. The old one stops working at once, or within a minute if the key cache can't be " +
      "reached at that moment. Name, scope, limits and expiry stay; the quotas start anew. A revoked or expired key is 409.",
    auth: "session",
    params,
    right: ({ ctx, principal, params: { id } }) => readKey(ctx, managedKeys(principal), id),
    returns: { 200: ApiKeyIssued },
    problems: ["not_found", "key_inactive"],
    idempotent: true,
    async handler({ ctx, principal, params: { id } }) {
      return ok(await rotateKey(ctx, managedKeys(principal), id));
    },
  }),
];
