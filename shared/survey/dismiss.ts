import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { survey_responses } from "../db/schema/index.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { recentResponse, takeTurn } from "./recent.ts";

/** Records that the caller closed the survey unanswered. A response of the last 30 days stays as it is. */
export async function dismiss(ctx: Context, { userId }: SessionPrincipal): Promise<void> {
  await write(ctx, {
    lock: takeTurn(userId),
    parts: sql`with inserted as (
      insert into ${survey_responses} (user_id, created_at)
      select ${userId}::uuid, ${ctx.now().toISOString()}::timestamptz
      where not exists (${recentResponse(ctx, userId)}) returning id
    )`,
    select: sql`select to_jsonb(id) as result from inserted`,
    result: z.uuid(),
  });
}
