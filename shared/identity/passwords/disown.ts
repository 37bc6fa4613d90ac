import { type SQL, sql } from "drizzle-orm";
import { agents, api_keys, otlp_tokens, sessions, team_invitations, webhooks } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { Problem } from "../../platform/problem.ts";
import { forgetKey } from "../api-keys/api-key.ts";
import { belongsTo } from "../../db/closing.ts";
import type { UserPrincipal } from "../principal.ts";
import { denySessions } from "../sessions/deny.ts";

/** What was taken from a stranger: ids of sessions, hashes of API keys. */
export interface Taken {
  ended: string[];
  revoked: string[];
}

/**
 * SQL: parts of a statement that leave whoever made an account for somebody else's address without a way in, now that
 * the owner of the address has come. For each row of the part `claimed` (id, proven) whose address was not `proven`
 * before, API keys and the invitations that it sent end, receiver tokens and subscriptions are deleted. Sessions end for
 * all of `claimed` that `everywhere` holds for. Run it with the account's row locked: what is granted at this moment
 * takes turns with it, and asks `stillHolds`.
 */
export function disown(ctx: Context, everywhere: SQL): SQL {
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
  const its = sql`not c.proven and ${belongsTo(sql`c.id`)}`;
  return sql`ended as (
      update ${sessions} s set revoked_at = ${now} from claimed c
      where s.user_id = c.id and ${everywhere} and s.revoked_at is null returning s.id
    ), revoked as (
      update ${api_keys} k set revoked_at = ${now} from claimed c
      where k.user_id = c.id and not c.proven and k.revoked_at is null returning k.key_hash
    ), receivers as (
      delete from ${otlp_tokens} o using ${agents} a, claimed c where o.agent_id = a.id and ${its}
    ), subscriptions as (
      delete from ${webhooks} a using claimed c where ${its} or (not c.proven and a.user_id = c.id)
    ), uninvited as (
      update ${team_invitations} i set revoked_at = ${now} from claimed c
      where i.invited_by = c.id and not c.proven and i.accepted_at is null and i.revoked_at is null
    )`;
}

/** SQL: JSON of what `disown` took, for `takeEffect`. */
export const taken: SQL = sql`jsonb_build_object(
  'ended', (select coalesce(jsonb_agg(id), '[]') from ended),
  'revoked', (select coalesce(jsonb_agg(key_hash), '[]') from revoked))`;

/** Makes what was taken stop working at once. Never rejects: Postgres decides where Redis does not answer. */
export async function takeEffect(ctx: Context, { ended, revoked }: Taken): Promise<void> {
  await Promise.all([denySessions(ctx, ended), ...revoked.map((hash) => forgetKey(ctx, hash))]);
}

/**
 * SQL: whether the caller's credential is still in force by the database. What grants a further credential asks this
 * under the account's lock: a session that ended beside it grants nothing that would outlive it.
 */
export function stillHolds(principal: UserPrincipal): SQL<boolean> {
  return principal.kind === "session"
    ? sql`exists (select from ${sessions} s where s.id = ${principal.sessionId}::uuid and s.revoked_at is null)`
    : sql`exists (select from ${api_keys} k where k.id = ${principal.keyId}::uuid and k.revoked_at is null)`;
}

/** The 401 for a credential that ended while its request was under way. */
export function endedMeanwhile(): Problem {
  return new Problem("unauthenticated", "These credentials ended at this moment; nothing was made. Sign in again.");
}
