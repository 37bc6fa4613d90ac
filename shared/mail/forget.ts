import { sql } from "drizzle-orm";
import { deletePiece, type Piece } from "../db/pieces.ts";
import { notices } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";

/** Rows that one statement deletes. */
const SIZE = 5000;

/** Longer than anything that an account is told of once goes on. */
const KEPT_DAYS = 400;

/** Deletes at most 5,000 marks of what accounts were told more than 400 days ago. */
export function forgetNotices(ctx: Context): Promise<Piece> {
  const before = new Date(ctx.now().getTime() - KEPT_DAYS * 86_400_000).toISOString();
  return deletePiece(
    ctx,
    sql`delete from ${notices} where (user_id, notice, about) in (
      select user_id, notice, about from ${notices} where created_at < ${before}::timestamptz limit ${SIZE}
    ) returning 1`,
    SIZE,
  );
}
