import { sql } from "drizzle-orm";
import { deletePiece, type Piece } from "../db/pieces.ts";
import { runs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";

/** Rows that one statement changes. */
const SIZE = 5000;

/**
 * Takes the hash of the address that asked for a trial off its run, of at most 5,000 runs, once the day of the allowance
 * is over: from then on giving it back is of no use to anybody.
 */
export function forgetAddresses(ctx: Context): Promise<Piece> {
  const today = ctx.now().toISOString().slice(0, 10);
  return deletePiece(
    ctx,
    sql`update ${runs} set paid_owner = null where id in (
      select id from ${runs} where paid_kind = 'trial_address' and paid_owner is not null and paid_period < ${today}
      limit ${SIZE}
    ) returning 1`,
    SIZE,
  );
}
