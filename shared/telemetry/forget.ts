import { sql } from "drizzle-orm";
import { deleteInPieces } from "../db/pieces.ts";
import { spans } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";

/** Days for which spans are kept after their receipt. */
const KEPT_DAYS = 30;

/** Spans that one statement deletes, and most statements of one time. */
const PIECES = { size: 5000, most: 400 };

/** Deletes the spans that were received more than 30 days ago, in pieces; returns how many. */
export function forgetSpans(ctx: Context): Promise<number> {
  const before = new Date(ctx.now().getTime() - KEPT_DAYS * 86_400_000).toISOString();
  return deleteInPieces(
    ctx,
    sql`delete from ${spans} where (run_id, span_id) in (
      select run_id, span_id from ${spans} where received_at < ${before}::timestamptz limit ${PIECES.size}
    ) returning 1`,
    PIECES,
  );
}
