import { sql } from "drizzle-orm";
import { deleteInPieces } from "../db/pieces.ts";
import { runs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";

/** Rows that one statement changes, and most statements of one time. */
const PIECES = { size: 5000, most: 200 };

/**
 * Takes the hash of the address that asked for a trial off its run, in pieces, once the day of the allowance is over:
 * from then on giving it back is of no use to anybody. Returns how many runs there were.
 */
export function forgetAddresses(ctx: Context): Promise<number> {
  const today = ctx.now().toISOString().slice(0, 10);
  return deleteInPieces(
    ctx,
    sql`update ${runs} set paid_owner = null where id in (
      select id from ${runs} where paid_kind = 'trial_address' and paid_owner is not null and paid_period < ${today}
      limit ${PIECES.size}
    ) returning 1`,
    PIECES,
  );
}
