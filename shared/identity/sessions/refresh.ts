import { sql } from "drizzle-orm";
import { refresh_tokens, sessions, users } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";
import { Problem } from "../../platform/problem.ts";
import { issueAccessToken } from "./access-token.ts";
import { denySessions } from "./deny.ts";
import { newSession } from "./new-session.ts";

interface Outcome {
  user_id: string | null;
  session_id: string | null;
  /** The chain that a replayed credential burnt. */
  burnt: string | null;
}

/**
 * Replaces a refresh credential by a new one, in one statement: of any number of uses at once one succeeds. A credential
 * that was replaced before, or whose session has ended, throws `invalid_refresh`; a replay revokes its whole chain.
 */
export async function refresh(ctx: Context, token: string): Promise<{ accessToken: string; refreshToken: string }> {
  const next = newSession(ctx);
  const now = ctx.now().toISOString();
  const outcome = await readJson<Outcome>(
    ctx,
    sql`with given as (
      select t.session_id, t.token_hash, t.replaced_at from ${refresh_tokens} t
      where t.token_hash = ${sha256(token)} for update
    ), rotated as (
      update ${refresh_tokens} t set replaced_at = ${now}::timestamptz from given g, ${sessions} s
      where t.token_hash = g.token_hash and t.replaced_at is null and s.id = t.session_id
        and s.revoked_at is null and s.expires_at > ${now}::timestamptz
        and exists (select from ${users} u where u.id = s.user_id)
      returning t.session_id
    ), kept as (
      update ${sessions} s set last_used_at = ${now}::timestamptz, expires_at = ${next.expiresAt}::timestamptz
      from rotated r where s.id = r.session_id returning s.id, s.user_id
    ), added as (
      insert into ${refresh_tokens} (token_hash, session_id) select ${next.refreshHash}, id from kept
    ), burnt as (
      update ${sessions} s set revoked_at = ${now}::timestamptz from given g
      where s.id = g.session_id and not exists (select from rotated) and s.revoked_at is null returning s.id
    )
    select jsonb_build_object('user_id', (select user_id from kept), 'session_id', (select id from kept),
      'burnt', (select id from burnt)) as result`,
  );
  if (outcome?.user_id == null || outcome.session_id === null) {
    const burnt = outcome?.burnt ?? null;
    // The access tokens of a stolen chain die with it, and not fifteen minutes later.
    if (burnt !== null) await denySessions(ctx, [burnt]);
    throw new Problem(
      "invalid_refresh",
      "The refresh credential is missing, expired, revoked or was used before. Sign in again.",
    );
  }
  const accessToken = await issueAccessToken(ctx, outcome.user_id, outcome.session_id);
  return { accessToken, refreshToken: next.refreshToken };
}
