import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../../db/change.ts";
import { refresh_tokens, sessions, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";
import { Problem } from "../../platform/problem.ts";
import { issueAccessToken } from "./access-token.ts";
import { denySessions } from "./deny.ts";
import { newSession } from "./new-session.ts";

const Refreshed = z.object({
  /** The session that goes on; null where the credential was refused. */
  session: z.object({ id: z.uuid(), user_id: z.uuid() }).nullable(),
  /** The session that was ended because its credential was used a second time. */
  burnt: z.uuid().nullable(),
});

/**
 * Replaces a refresh credential with a new one, in one statement: of any number of uses at once, one succeeds. A
 * credential that was replaced before, or whose session has ended, be it while this waits for it, throws `invalid_refresh`;
 * one that is used a second time ends its whole session.
 */
export async function refresh(ctx: Context, token: string): Promise<{ accessToken: string; refreshToken: string }> {
  const next = newSession(ctx);
  const now = ctx.now().toISOString();
  const refreshed = await write(ctx, {
    parts: sql`with given as (
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
      from rotated r where s.id = r.session_id and s.revoked_at is null returning s.id, s.user_id
    ), added as (
      insert into ${refresh_tokens} (token_hash, session_id) select ${next.refreshHash}, id from kept
    ), burnt as (
      update ${sessions} s set revoked_at = ${now}::timestamptz from given g
      where s.id = g.session_id and not exists (select from rotated) and s.revoked_at is null returning s.id
    )`,
    select: sql`select jsonb_build_object(
      'session', (select jsonb_build_object('id', id, 'user_id', user_id) from kept),
      'burnt', (select id from burnt)) as result`,
    result: Refreshed,
  });
  const session = refreshed?.session ?? null;
  if (session === null) {
    const burnt = refreshed?.burnt ?? null;
    // The access tokens of a stolen session die with it, not fifteen minutes later.
    if (burnt !== null) await denySessions(ctx, [burnt]);
    throw new Problem(
      "invalid_refresh",
      "The refresh credential is missing, expired, revoked or was used before. Sign in again.",
    );
  }
  const accessToken = await issueAccessToken(ctx, session.user_id, session.id);
  return { accessToken, refreshToken: next.refreshToken };
}
