import { sql } from "drizzle-orm";
import { survey_responses } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { recentResponse, takeTurn } from "./recent.ts";

/** Marks the survey as shown to an account, without a response. A response of the last 30 days stays as it is. */
export async function dismiss(ctx: Context, userId: string): Promise<void> {
  await ctx.db.batch([
    ctx.db.execute(takeTurn(userId)),
    ctx.db.execute(sql`insert into ${survey_responses} (user_id, created_at)
      select ${userId}::uuid, ${ctx.now().toISOString()}::timestamptz
      where not exists (${recentResponse(ctx, userId)})`),
  ]);
}
