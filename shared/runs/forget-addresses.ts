import { sql } from "drizzle-orm";
import { deletePiece, isAmong, PIECE, type Piece } from "../db/pieces.ts";
import { runs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";

/**
 * Takes the hash of the address that asked for a trial off its run, of at most 5,000 runs, once the day of the allowance
 * is over: from then on giving it back is of no use to anybody.
 */
export function forgetAddresses(ctx: Context): Promise<Piece> {
  const today = ctx.now().toISOString().slice(0, 10);
  const over = sql`select ctid from ${runs} where paid_kind = 'trial_address' and paid_owner is not null
    and paid_period < ${today} order by paid_period limit ${PIECE} for update skip locked`;
  return deletePiece(ctx, sql`update ${runs} set paid_owner = null where ${isAmong(over)}`);
}
