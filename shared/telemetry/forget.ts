import { type SQL, sql } from "drizzle-orm";
import { deletePiece, isFirstBelow, type Piece } from "../db/pieces.ts";
import { spans } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";

/** Days for which spans are kept after their receipt. */
const KEPT_DAYS = 30;

/** Deletes at most 5,000 spans that were received more than 30 days ago. */
export function forgetSpans(ctx: Context): Promise<Piece> {
  const before = new Date(ctx.now().getTime() - KEPT_DAYS * 86_400_000).toISOString();
  return deletePiece(
    ctx,
    sql`delete from ${spans} where ${isFirstBelow(spans.received_at, sql`${before}::timestamptz`)}`,
  );
}

/** SQL: a part of a statement that deletes the spans of runs (a query of their ids): those of an attempt that is made again. */
export function dropSpans(runIds: SQL): SQL {
  return sql`delete from ${spans} s where s.run_id in (${runIds})`;
}
