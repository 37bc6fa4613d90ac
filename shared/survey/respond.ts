import { sql } from "drizzle-orm";
import * as z from "zod";
import { ALWAYS, change } from "../db/change.ts";
import { survey_responses } from "../db/schema/index.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { endedMeanwhile } from "../platform/problem.ts";
import { recentResponse, takeTurn } from "./recent.ts";
import { type PMFResponseCreate, PMFResponseRead } from "./schemas.ts";
import { responseJson } from "./view.ts";

/**
 * Records what the caller thinks of the service. A response within 30 days of the last one, or of a dismissal, replaces
 * it: same id, new time. A blank comment counts as none.
 */
export async function respond(
  ctx: Context,
  { userId }: SessionPrincipal,
  input: z.output<typeof PMFResponseCreate>,
): Promise<z.output<typeof PMFResponseRead>> {
  const { score, disappointment } = input;
  const comment = input.comment === undefined || input.comment === "" ? null : input.comment;
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
  const { response } = await change(ctx, {
    lock: takeTurn(userId),
    parts: sql`with recent as (
      ${recentResponse(ctx, userId)}
    ), updated as (
      update ${survey_responses} r set score = ${score}::integer, disappointment = ${disappointment},
        comment = ${comment}, created_at = ${now}
      from recent where r.id = recent.id returning r.*
    ), inserted as (
      insert into ${survey_responses} (user_id, score, disappointment, comment, created_at)
      select ${userId}::uuid, ${score}::integer, ${disappointment}, ${comment}, ${now}
      where not exists (select from recent) returning *
    )`,
    result: sql`select jsonb_build_object('outcome', ${ALWAYS.sql}, 'response', ${responseJson}) as result
      from (select * from updated union all select * from inserted) r`,
    verdict: ALWAYS,
    done: z.object({ response: PMFResponseRead }),
    refusals: { not_found: endedMeanwhile },
  });
  return response;
}
