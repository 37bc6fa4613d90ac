import { sql } from "drizzle-orm";
import { spans } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";

/** Days for which spans are kept after their receipt. */
const KEPT_DAYS = 30;

/** Spans that one statement deletes, and most statements of one time; what is left then waits for the next. */
const PIECE = 5000;
const MAX_PIECES = 400;

/** Deletes the spans that were received more than 30 days ago, in pieces; returns how many. */
export async function forgetSpans(ctx: Context): Promise<number> {
  const before = new Date(ctx.now().getTime() - KEPT_DAYS * 86_400_000).toISOString();
  let deleted = 0;
  for (let piece = 0; piece < MAX_PIECES; piece += 1) {
    const count = await readJson<number>(
      ctx,
      sql`with gone as (
        delete from ${spans} where (run_id, span_id) in (
          select run_id, span_id from ${spans} where received_at < ${before}::timestamptz limit ${PIECE}
        ) returning 1
      ) select to_jsonb(count(*)) as result from gone`,
    );
    deleted += count ?? 0;
    if ((count ?? 0) < PIECE) break;
  }
  return deleted;
}
