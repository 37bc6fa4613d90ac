import { type SQL, sql } from "drizzle-orm";
import { survey_responses, users } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";

/** An account's responses count once in this many days. */
const PERIOD_DAYS = 30;

/** SQL: the start of the last `days` days by the service's clock. */
export function daysAgo(ctx: Context, days: number): SQL {
  return sql`(${ctx.now().toISOString()}::timestamptz - ${days}::integer * interval '1 day')`;
}

/** SQL: a query of at most one row: the id of what the account answered or dismissed within the period. */
export function recentResponse(ctx: Context, userId: string): SQL {
  return sql`select r.id from ${survey_responses} r
    where r.user_id = ${userId}::uuid and r.created_at > ${daysAgo(ctx, PERIOD_DAYS)}
    order by r.created_at desc limit 1`;
}

/** SQL: makes the responses of one account take turns, so that none counts twice. */
export function takeTurn(userId: string): SQL {
  return sql`select from ${users} where id = ${userId}::uuid for no key update`;
}
