import { and, eq, gt, isNull } from "drizzle-orm";
import { sessions } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { ACCESS_TOKEN_SECONDS } from "./access-token.ts";
import type { SessionPrincipal } from "./principal.ts";

const tokenKey = (tokenId: string): string => `deny:token:${tokenId}`;
const sessionKey = (sessionId: string): string => `deny:session:${sessionId}`;

/**
 * Whether an access token that is in force by itself was not logged out: asked of Redis beside the limiter, and of the
 * session's row in Postgres when Redis does not answer. GETEX, since a plain read would travel in a request of its own.
 */
export async function sessionHolds(
  ctx: Context,
  { tokenId, sessionId }: Pick<SessionPrincipal, "tokenId" | "sessionId">,
): Promise<boolean> {
  try {
    const denied = await Promise.all([ctx.redis.getex(tokenKey(tokenId)), ctx.redis.getex(sessionKey(sessionId))]);
    return denied.every((entry) => entry === null);
  } catch {
    const [row] = await ctx.db
      .select({ id: sessions.id })
      .from(sessions)
      .where(
        and(eq(sessions.id, sessionId), isNull(sessions.revoked_at), gt(sessions.expires_at, ctx.now().toISOString())),
      );
    return row !== undefined;
  }
}

/** Puts a logged-out session on the denylist for as long as any access token of it can live. */
export async function denySession(ctx: Context, sessionId: string, seconds: number): Promise<void> {
  await ctx.redis.set(sessionKey(sessionId), 1, { ex: seconds });
}

/** Puts one access token on the denylist until it expires. */
export async function denyToken(ctx: Context, tokenId: string, seconds: number): Promise<void> {
  await ctx.redis.set(tokenKey(tokenId), 1, { ex: Math.max(1, seconds) });
}

/**
 * Puts every session that ended while any access token of it can live on the denylist once more: an end that Redis
 * missed is made good within a minute of its return.
 */
export async function denyEnded(ctx: Context): Promise<void> {
  const since = new Date(ctx.now().getTime() - ACCESS_TOKEN_SECONDS * 1000);
  const ended = await ctx.db
    .select({ id: sessions.id })
    .from(sessions)
    .where(gt(sessions.revoked_at, since.toISOString()));
  await Promise.all(ended.map(({ id }) => denySession(ctx, id, ACCESS_TOKEN_SECONDS)));
}
