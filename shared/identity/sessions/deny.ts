import { and, desc, eq, gt, isNull, type SQL, sql } from "drizzle-orm";
import { sessions } from "../../db/schema/index.ts";
import type { Context, Question } from "../../platform/context.ts";
import type { Env } from "../../platform/env.ts";
import { ACCESS_TOKEN_SECONDS } from "./access-token.ts";
import type { SessionPrincipal } from "../principal.ts";
import { REFRESH_SECONDS } from "./new-session.ts";

const tokenKey = (tokenId: string): string => `deny:token:${tokenId}`;
const sessionKey = (sessionId: string): string => `deny:session:${sessionId}`;

/** The key that Redis has while its denylist is known to be complete; a Redis that lost its data has lost this key, too. */
const COMPLETE = "deny:complete";
/** Longer than the minute from one `denyEnded` to the next, with room for one that fails. */
const COMPLETE_SECONDS = 180;

/** What an isolate knows of Redis: how often it failed here, and how many of these failures have been repaired since. */
interface Trust {
  failures: number;
  repaired: number;
  repairing: boolean;
}

const trusts = new WeakMap<Env, Trust>();

function trustOf({ env }: Context): Trust {
  const known = trusts.get(env) ?? { failures: 0, repaired: 0, repairing: false };
  trusts.set(env, known);
  return known;
}

/**
 * Whether the session of an otherwise valid access token has not ended: asked of Redis in the same request as the rate
 * limit. The session's row in Postgres decides while Redis does not answer, and from then on until the denylist is known to
 * be complete again: Redis may have missed sessions that ended while it was down. GETEX, since the client would send a
 * plain read in a request of its own.
 */
export async function sessionHolds(
  ctx: Context,
  { tokenId, sessionId }: Pick<SessionPrincipal, "tokenId" | "sessionId">,
): Promise<boolean> {
  const trust = trustOf(ctx);
  const keys = [tokenKey(tokenId), sessionKey(sessionId), COMPLETE];
  try {
    const [token, session, complete] = await Promise.all(keys.map((key) => ctx.redis.getex(key)));
    if (token !== null || session !== null) return false;
    if (complete !== null && trust.failures === trust.repaired) return true;
    if (!trust.repairing) ctx.defer(() => denyEnded(ctx));
  } catch {
    trust.failures += 1;
  }
  const [row] = await ctx.db.select({ id: sessions.id }).from(sessions).where(inForce(ctx, sessionId));
  return row !== undefined;
}

/**
 * Leaves it to the first statement that the request reads by whether its session holds: there the row decides, which is
 * written before anything is denied. Returns how to learn it: where nothing is being read yet, as `sessionHolds` does.
 */
export function sessionHoldsByRead(
  ctx: Context,
  session: Pick<SessionPrincipal, "tokenId" | "sessionId">,
): () => Promise<boolean> {
  const condition = sql`exists (select from ${sessions} where ${inForce(ctx, session.sessionId)})`;
  const question: Question = { condition, found: null };
  ctx.question = question;
  return () => {
    if (question.found !== null) return question.found.catch(() => sessionHolds(ctx, session));
    question.found = sessionHolds(ctx, session);
    return question.found;
  };
}

/** SQL: that the session is in force. One whose row is gone, with its account or long after its end, is not. */
function inForce(ctx: Context, sessionId: string): SQL | undefined {
  const now = ctx.now().toISOString();
  return and(eq(sessions.id, sessionId), isNull(sessions.revoked_at), gt(sessions.expires_at, now));
}

/** How far the end of a session may lie behind that of the access token given with it: what giving takes, and clocks that differ. */
const LATE_SECONDS = 120;

/**
 * SQL: whether an access token of a session may still be valid. Each is given together with a new end of the session, so that
 * of the sessions an account has gathered few have one: those that signed in or refreshed in the last minutes.
 */
function hasToken(ctx: Context): SQL<boolean> {
  const seconds = REFRESH_SECONDS - ACCESS_TOKEN_SECONDS - LATE_SECONDS;
  return sql`expires_at > ${new Date(ctx.now().getTime() + seconds * 1000).toISOString()}::timestamptz`;
}

/** SQL: a JSON array of the ids that `denySessions` is to be given, of the part `ended` (id, expires_at): sessions that ended. */
export function endedJson(ctx: Context): SQL {
  return sql`(select coalesce(jsonb_agg(id), '[]') from ended where ${hasToken(ctx)})`;
}

/**
 * Invalidates the access tokens of ended sessions at once rather than when they expire, up to fifteen minutes later;
 * `token` is also listed by its own id, for the `seconds` that it has left. The rows in Postgres are written first. Never
 * rejects: while Redis does not answer Postgres decides, and `denyEnded` adds what Redis missed.
 */
export async function denySessions(
  ctx: Context,
  ids: readonly string[],
  token?: { id: string; seconds: number },
): Promise<void> {
  const lists = ids.map((id) => ctx.redis.set(sessionKey(id), 1, { ex: ACCESS_TOKEN_SECONDS }));
  if (token !== undefined && token.seconds > 0) lists.push(ctx.redis.set(tokenKey(token.id), 1, { ex: token.seconds }));
  await Promise.all(lists).catch((error: unknown) => {
    trustOf(ctx).failures += 1;
    ctx.log.warn("denylist unavailable", { reason: error instanceof Error ? error.name : "unknown" });
  });
}

/** How many sessions a batch lists, and the most batches: well within the requests that one invocation may send. */
const BATCH_SIZE = 1000;
const MAX_BATCHES = 50;

/**
 * Completes the denylist: lists once more every session that ended so recently that an access token of it may still be
 * valid, and then marks the list as complete. So Redis gets what it missed while it was down within a minute of its return,
 * or earlier, when an isolate that saw Redis fail serves its next caller.
 */
export async function denyEnded(ctx: Context): Promise<void> {
  const trust = trustOf(ctx);
  const { failures } = trust;
  trust.repairing = true;
  try {
    if (!(await listEnded(ctx))) return;
    await ctx.redis.set(COMPLETE, 1, { ex: COMPLETE_SECONDS });
    trust.repaired = failures;
  } finally {
    trust.repairing = false;
  }
}

/** Lists every session of which an access token may still be valid, the latest to end first; returns whether all fitted. */
async function listEnded(ctx: Context): Promise<boolean> {
  const since = new Date(ctx.now().getTime() - ACCESS_TOKEN_SECONDS * 1000).toISOString();
  let before: SQL | undefined;
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const ended = await ctx.db
      .select({ id: sessions.id, at: sessions.revoked_at })
      .from(sessions)
      .where(and(gt(sessions.revoked_at, since), hasToken(ctx), before))
      .orderBy(desc(sessions.revoked_at), desc(sessions.id))
      .limit(BATCH_SIZE);
    await Promise.all(ended.map(({ id }) => ctx.redis.set(sessionKey(id), 1, { ex: ACCESS_TOKEN_SECONDS })));
    const last = ended.at(-1);
    if (last === undefined || ended.length < BATCH_SIZE) return true;
    before = sql`(revoked_at, id) < (${last.at}::timestamptz, ${last.id}::uuid)`;
  }
  ctx.log.warn("more sessions ended than are listed at a time", { listed: BATCH_SIZE * MAX_BATCHES });
  return false;
}
