import { sql } from "drizzle-orm";
import type * as z from "zod";
import { survey_responses } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { recentResponse, takeTurn } from "./recent.ts";
import type { PMFResponseCreate, PMFResponseRead } from "./schemas.ts";

/**
 * Keeps what an account thinks of the service. Within 30 days of its last response, or dismissal, this one takes the
 * place of that: same id, new time. A blank comment is none.
 */
export function respond(
  ctx: Context,
  userId: string,
  { score, disappointment, comment }: z.output<typeof PMFResponseCreate>,
): Promise<z.input<typeof PMFResponseRead>> {
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
  const said = comment === undefined || comment === "" ? null : comment;
  const ctes = sql`with recent as (
    ${recentResponse(ctx, userId)}
  ), replaced as (
    update ${survey_responses} r set score = ${score}::integer, disappointment = ${disappointment}, comment = ${said},
      created_at = ${now}
    from recent where r.id = recent.id returning r.*
  ), made as (
    insert into ${survey_responses} (user_id, score, disappointment, comment, created_at)
    select ${userId}::uuid, ${score}::integer, ${disappointment}, ${said}, ${now} where not exists (select from recent)
    returning *
  )`;
  const result = sql`select jsonb_build_object('id', id, 'score', score, 'disappointment', disappointment,
    'comment', comment, 'created_at', created_at) as result from (select * from replaced union all select * from made) r`;
  return writeJson(ctx, ctes, result, takeTurn(userId));
}
