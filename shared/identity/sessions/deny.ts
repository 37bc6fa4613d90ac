import { and, desc, eq, gt, isNull } from "drizzle-orm";
import { sessions } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import type { Env } from "../../platform/env.ts";
import { ACCESS_TOKEN_SECONDS } from "./access-token.ts";
import type { SessionPrincipal } from "../principal.ts";

const tokenKey = (tokenId: string): string => `deny:token:${tokenId}`;
const sessionKey = (sessionId: string): string => `deny:session:${sessionId}`;

/** Stands in Redis while the denylist there is known to be whole; a Redis that lost its data has lost this too. */
const WHOLE = "deny:whole";
/** Longer than the minute from one `denyEnded` to the next, with room for one that fails. */
const WHOLE_SECONDS = 180;

/** What an isolate knows of Redis: how often it failed here, and how many of these failures were made good since. */
interface Trust {
  failures: number;
  madeGood: number;
  repairing: boolean;
}

const trusts = new WeakMap<Env, Trust>();

function trustOf({ env }: Context): Trust {
  const known = trusts.get(env) ?? { failures: 0, madeGood: 0, repairing: false };
  trusts.set(env, known);
  return known;
}

/**
 * Whether an access token that is in force by itself was not logged out: asked of Redis beside the limiter, in the same
 * request. The session's row in Postgres decides when Redis does not answer, and after that until the denylist is known
 * to be whole again: Redis may have missed what ended while it was away. GETEX, since a plain read would travel in a
 * request of its own.
 */
export async function sessionHolds(
  ctx: Context,
  { tokenId, sessionId }: Pick<SessionPrincipal, "tokenId" | "sessionId">,
): Promise<boolean> {
  const trust = trustOf(ctx);
  const keys = [tokenKey(tokenId), sessionKey(sessionId), WHOLE];
  try {
    const [token, session, whole] = await Promise.all(keys.map((key) => ctx.redis.getex(key)));
    if (token !== null || session !== null) return false;
    if (whole !== null && trust.failures === trust.madeGood) return true;
    if (!trust.repairing) ctx.defer(() => denyEnded(ctx));
  } catch {
    trust.failures += 1;
  }
  const [row] = await ctx.db
    .select({ id: sessions.id })
    .from(sessions)
    .where(
      and(eq(sessions.id, sessionId), isNull(sessions.revoked_at), gt(sessions.expires_at, ctx.now().toISOString())),
    );
  return row !== undefined;
}

/**
 * Makes the access tokens of ended sessions die at once, and not up to fifteen minutes later; with `token` that one is
 * listed by its own id besides, for the `seconds` that it has left. The rows in Postgres are written first. Never
 * rejects: while Redis does not answer Postgres decides, and `denyEnded` makes good what Redis missed.
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

/** Sessions that are listed at one time, and most of such times: well within what one invocation may send. */
const PIECE = 1000;
const MAX_PIECES = 50;

/**
 * Makes the denylist whole: puts every session that ended while any access token of it can live there once more, and
 * says so in Redis. What Redis missed while it was away is made good so within a minute of its return, and before that
 * by the first caller that an isolate serves which saw Redis fail.
 */
export async function denyEnded(ctx: Context): Promise<void> {
  const trust = trustOf(ctx);
  const { failures } = trust;
  trust.repairing = true;
  try {
    if (!(await listEnded(ctx))) return;
    await ctx.redis.set(WHOLE, 1, { ex: WHOLE_SECONDS });
    trust.madeGood = failures;
  } finally {
    trust.repairing = false;
  }
}

/** Lists every session that ended while any access token of it can live, the last to end first; returns whether it did. */
async function listEnded(ctx: Context): Promise<boolean> {
  const since = new Date(ctx.now().getTime() - ACCESS_TOKEN_SECONDS * 1000).toISOString();
  for (let piece = 0; piece < MAX_PIECES; piece += 1) {
    const ended = await ctx.db
      .select({ id: sessions.id })
      .from(sessions)
      .where(gt(sessions.revoked_at, since))
      .orderBy(desc(sessions.revoked_at), desc(sessions.id))
      .limit(PIECE)
      .offset(piece * PIECE);
    await Promise.all(ended.map(({ id }) => ctx.redis.set(sessionKey(id), 1, { ex: ACCESS_TOKEN_SECONDS })));
    if (ended.length < PIECE) return true;
  }
  ctx.log.warn("more sessions ended than are listed at a time", { listed: PIECE * MAX_PIECES });
  return false;
}
