import { sql } from "drizzle-orm";
import { sessions } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { signedSession } from "./access-token.ts";
import { denySessions } from "./deny.ts";

/**
 * Ends the session that the first of these texts names which is an access token of ours, in force or not: its refresh
 * credentials and all its access tokens stop working at once, other devices go on. Does nothing where none is. The row
 * in Postgres is written first, since it decides whenever Redis does not answer.
 */
export async function logout(ctx: Context, tokens: readonly string[]): Promise<void> {
  for (const token of tokens) {
    const session = await signedSession(ctx, token);
    if (session === null) continue;
    const now = ctx.now();
    await ctx.db.execute(
      sql`update ${sessions} set revoked_at = coalesce(revoked_at, ${now.toISOString()}::timestamptz)
        where id = ${session.sessionId}::uuid`,
    );
    const seconds = Math.ceil((session.expiresAt.getTime() - now.getTime()) / 1000);
    await denySessions(ctx, [session.sessionId], { id: session.tokenId, seconds });
    return;
  }
}
