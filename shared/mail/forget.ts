import { sql } from "drizzle-orm";
import { deletePiece, isFirstBelow, type Piece } from "../db/pieces.ts";
import { notices } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";

/** Longer than anything that an account is told of once goes on. */
const KEPT_DAYS = 400;

/** Deletes at most 5,000 marks of what accounts were told more than 400 days ago. */
export function forgetNotices(ctx: Context): Promise<Piece> {
  const before = new Date(ctx.now().getTime() - KEPT_DAYS * 86_400_000).toISOString();
  return deletePiece(
    ctx,
    sql`delete from ${notices} where ${isFirstBelow(notices.created_at, sql`${before}::timestamptz`)}`,
  );
}
