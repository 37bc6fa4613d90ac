import { sql } from "drizzle-orm";
import { deletePiece, isAmong, PIECE, type Piece } from "../../db/pieces.ts";
import { purchases } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";

/** How long a buyer may come back to a purchase whose page could not be opened: as long as the provider knows its key. */
const KEPT_MS = 86_400_000;

/**
 * Marks at most 5,000 purchases as failed that never got a page to pay at, a day after they were begun: no event will tell of
 * them, and once the listing is off offer nobody can go on with them.
 */
export function failLeftPurchases(ctx: Context): Promise<Piece> {
  const before = new Date(ctx.now().getTime() - KEPT_MS).toISOString();
  const left = sql`select ctid from ${purchases} where status = 'AWAITING_PAYMENT' and checkout_session_id is null
    and created_at < ${before}::timestamptz limit ${PIECE} for update skip locked`;
  return deletePiece(ctx, sql`update ${purchases} set status = 'FAILED' where ${isAmong(left)}`);
}
