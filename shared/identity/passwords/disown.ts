import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { belongsTo } from "../../db/closing.ts";
import { api_keys, passkeys, sessions, totp_factors } from "../../db/schema/index.ts";
import { keysAround } from "../api-keys/of-account.ts";
import type { Context } from "../../platform/context.ts";
import { forgetKey } from "../api-keys/api-key.ts";
import { voidTokens } from "../email-token.ts";
import type { UserPrincipal } from "../principal.ts";
import { denySessions, endedJson } from "../sessions/deny.ts";

/**
 * SQL: what a domain contributes to `disown`: a part that takes away what it granted to the accounts of the part `claimed`
 * (id, proven) that are not `proven`, or one whose rows are messages that have the queue do so. `owns` is SQL: whether the
 * row `a` (`user_id`, `team_id`) belongs to the row `c` of `claimed`, or to a workspace that it owns.
 */
export type DisownInDomain = (given: { now: Date; owns: SQL<boolean> }) => SQL | { owes: SQL };

/** What was taken from a stranger: ids of sessions that may have access tokens, hashes of API keys. */
export const Taken = z.object({ ended: z.array(z.uuid()), revoked: z.array(z.string()) });

/**
 * SQL: parts of a statement that leave whoever made an account for somebody else's address without a way in, now that
 * the owner of the address has come. For each row of the part `claimed` (id, proven) whose address was not `proven`
 * before, API keys, passkeys and the second factor end, and each of the `domains` takes away what else lets somebody in.
 * Sessions end for all of `claimed` for which `everywhere` holds, and with them the mailed links that one of them asked
 * for: a link that changes the address needs no session. Run it with the account's row locked: what is granted at this
 * moment takes turns with it, and asks `stillHolds`. `owes` names the parts whose rows are messages.
 */
export function disown(
  ctx: Context,
  everywhere: SQL,
  domains: readonly DisownInDomain[],
): { parts: SQL; owes: string[] } {
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
  const given = { now: ctx.now(), owns: belongsTo(sql`c.id`) };
  const owes: string[] = [];
  const others = domains.map((domain, index) => {
    const [name, part] = [`disowned_${index}`, domain(given)];
    if ("owes" in part) owes.push(name);
    return sql`, ${sql.identifier(name)} as (${"owes" in part ? part.owes : part})`;
  });
  const parts = sql`ended as (
      update ${sessions} s set revoked_at = ${now} from claimed c
      where s.user_id = c.id and ${everywhere} and s.revoked_at is null returning s.id, s.expires_at
    ), voided as (
      ${voidTokens(ctx, ["confirm_email", "confirm_deletion"], sql`(select c.id from claimed c where ${everywhere})`)}
    ), revoked as (
      update ${api_keys} k set revoked_at = ${now} from claimed c cross join lateral (${keysAround(sql`c.id`)}) x
      where k.id = x.id and not c.proven and k.revoked_at is null returning k.key_hash
    ), unlocked as (
      delete from ${passkeys} p using claimed c where p.user_id = c.id and not c.proven
    ), unasked as (
      delete from ${totp_factors} f using claimed c where f.user_id = c.id and not c.proven
    )${sql.join(others)}`;
  return { parts, owes };
}

/**
 * SQL: what an account `u` is set to when its address's owner claims it. Where the address was never verified, somebody else
 * asked for its deletion, and would be paid for its sales.
 */
export const CLAIMING: SQL = sql`email_verified = true,
  deletion_scheduled_for = case when u.email_verified then u.deletion_scheduled_for end,
  charges_enabled = u.charges_enabled and u.email_verified, payouts_enabled = u.payouts_enabled and u.email_verified`;

/** SQL: the JSON of what `disown` took: `Taken`. */
export function takenJson(ctx: Context): SQL {
  return sql`jsonb_build_object('ended', ${endedJson(ctx)},
    'revoked', (select coalesce(jsonb_agg(key_hash), '[]') from revoked))`;
}

/** Makes what was taken stop working at once. Never rejects: Postgres decides where Redis does not answer. */
export async function takeEffect(ctx: Context, { ended, revoked }: z.output<typeof Taken>): Promise<void> {
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
