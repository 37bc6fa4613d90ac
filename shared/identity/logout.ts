import { sql } from "drizzle-orm";
import { sessions } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import type { SessionPrincipal } from "./principal.ts";
import { denySession, denyToken } from "./sessions.ts";

/**
 * Ends one session: its refresh credentials and its access token stop working at once, other devices go on. The row in
 * Postgres is written first, since it decides whenever Redis does not answer.
 */
export async function logout(
  ctx: Context,
  { sessionId, tokenId, expiresAt }: Pick<SessionPrincipal, "sessionId" | "tokenId" | "expiresAt">,
): Promise<void> {
  await ctx.db.execute(
    sql`update ${sessions} set revoked_at = coalesce(revoked_at, ${ctx.now().toISOString()}::timestamptz)
      where id = ${sessionId}::uuid`,
  );
  const seconds = Math.ceil((expiresAt.getTime() - ctx.now().getTime()) / 1000);
  await Promise.all([denyToken(ctx, tokenId, seconds), denySession(ctx, sessionId, seconds)]).catch(
    (error: unknown) => {
      ctx.log.warn("denylist unavailable", { reason: error instanceof Error ? error.name : "unknown" });
    },
  );
}
