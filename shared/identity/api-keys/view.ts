import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import type { Context } from "../../platform/context.ts";
import { bodyProblem, Problem } from "../../platform/problem.ts";
import type { ApiKeyIssued, ApiKeyRead } from "./schemas.ts";
import { scopesOf } from "./scopes.ts";

/** What may be shown of a key at any time. */
export type ShownKey = z.output<typeof ApiKeyRead>;

/** What the owner gets when a key is made or rotated: its record and the key itself, null in a replay. */
export type IssuedKey = z.output<typeof ApiKeyIssued>;

/** SQL: the scopes of the key row `k`, as `scopesOf` gives them. */
const scopesJson: SQL = sql`coalesce(to_jsonb(k.scopes), case k.scope when 'write' then
  ${JSON.stringify(scopesOf({ scope: "write", scopes: null }))}::jsonb else
  ${JSON.stringify(scopesOf({ scope: "read", scopes: null }))}::jsonb end)`;

/** SQL: the JSON of the key row `k`; its hash never leaves the database this way. */
export const keyJson: SQL = sql`json_build_object('id', k.id, 'team_id', k.team_id, 'name', k.name, 'prefix', k.prefix, 'scope', k.scope, 'scopes', ${scopesJson},
  'rate_limit_per_minute', k.rate_limit_per_minute, 'quota_per_day', k.quota_per_day,
  'last_used_at', k.last_used_at, 'expires_at', k.expires_at, 'revoked_at', k.revoked_at, 'created_at', k.created_at)`;

/** The part of a key that lists show: `ask_` and 8 of its 43 characters, which leaves 172 bits unknown. */
export function keyPrefix(key: string): string {
  return key.slice(0, 12);
}

/** The last time that an answer can tell: ISO 8601 has years of four digits. */
const END_OF_TIME = Date.parse("9999-12-31T23:59:59.999Z");

/** Throws a 422 for an expiry that has passed, or that no answer could tell since it lies beyond the year 9999 in UTC. */
export function assertFuture(ctx: Context, expiresAt: string | null | undefined): void {
  if (expiresAt == null) return;
  const at = Date.parse(expiresAt);
  if (at > ctx.now().getTime() && at <= END_OF_TIME) return;
  const advice = at <= END_OF_TIME ? "To end a key now, delete it." : "For a key that never expires, send null.";
  throw bodyProblem("validation_failed", "/expires_at", `Give a time in the future, up to the year 9999. ${advice}`);
}

/** The 409 for a name that another key of the account has, in upper or lower case. */
export function keyNameTaken(): Problem {
  return bodyProblem(
    "duplicate_name",
    "/name",
    "Another key of this account has this name. Choose another name, or revoke that key.",
  );
}

/** The 409 for a change to a key that is revoked or expired. */
export function keyInactive(detail: string): Problem {
  return new Problem("key_inactive", detail);
}
