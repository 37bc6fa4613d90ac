import { sql } from "drizzle-orm";
import { deleteInPieces } from "../db/pieces.ts";
import { allowances } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { monthOf } from "./plans.ts";

/** Days for which it is kept at least what was used of an allowance: a run may still give its share back. */
const KEPT_DAYS = 35;

/** Allowances of a day that are an address's: what is given back after that day is of no use to anybody. */
const OF_ADDRESSES = sql`('trial_address', 'lead_source')`;

/** Rows that one statement deletes, and most statements of one time. */
const PIECES = { size: 5000, most: 200 };

/**
 * Deletes what was used of the allowances of months, days and hours that are long over, in pieces, and those of addresses
 * once their day is; returns how many.
 */
export function forgetAllowances(ctx: Context): Promise<number> {
  const today = ctx.now().toISOString().slice(0, 10);
  const month = monthOf(new Date(ctx.now().getTime() - KEPT_DAYS * 86_400_000));
  // Each period begins with its month.
  return deleteInPieces(
    ctx,
    sql`delete from ${allowances} where (kind, owner, period) in (
      select kind, owner, period from ${allowances} where left(period, 7) < ${month}
        or (kind in ${OF_ADDRESSES} and period < ${today}) limit ${PIECES.size}
    ) returning 1`,
    PIECES,
  );
}
