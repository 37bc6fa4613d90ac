import { sql } from "drizzle-orm";
import { deletePiece, type Piece } from "../db/pieces.ts";
import { spans } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";

/** Days for which spans are kept after their receipt. */
const KEPT_DAYS = 30;

/** Spans that one statement deletes. */
const SIZE = 5000;

/** Deletes at most 5,000 spans that were received more than 30 days ago. */
export function forgetSpans(ctx: Context): Promise<Piece> {
  const before = new Date(ctx.now().getTime() - KEPT_DAYS * 86_400_000).toISOString();
  return deletePiece(
    ctx,
    sql`delete from ${spans} where (run_id, span_id) in (
      select run_id, span_id from ${spans} where received_at < ${before}::timestamptz limit ${SIZE}
    ) returning 1`,
    SIZE,
  );
}
