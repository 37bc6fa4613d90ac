import { sql } from "drizzle-orm";
import { deletePiece, isAmong, PIECE, type Piece } from "../db/pieces.ts";
import { allowances } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { monthOf } from "../plans/plans.ts";

/** Days for which the use of an allowance is kept at least: a run may still give back what it took. */
const ALLOWANCE_DAYS = 35;

/** What accounts used month by month is kept as long as they are: together it is all that they ever ran. */
const KEPT = "user";

/** The daily allowances of an address, of whichever kind: nobody can use what is given back after that day. */
const OF_ADDRESSES: readonly string[] = ["trial_address", "lead_source", "invited_address", "claimed_address"];

/**
 * Deletes at most 5,000 rows of allowances whose month, day or hour is long over, but for the months of accounts; those of
 * addresses as soon as their day has passed.
 */
export function forgetAllowances(ctx: Context): Promise<Piece> {
  const today = ctx.now().toISOString().slice(0, 10);
  const month = monthOf(new Date(ctx.now().getTime() - ALLOWANCE_DAYS * 86_400_000));
  // Each period begins with its month, so that it sorts behind the month itself.
  const forgotten = allowances.kind.enumValues.filter((kind) => kind !== KEPT);
  const kinds = forgotten.map((kind) => ({
    kind,
    until: OF_ADDRESSES.includes(kind) ? today : month,
  }));
  const over = sql`select w.ctid from jsonb_to_recordset(${JSON.stringify(kinds)}::jsonb) as k(kind text, until text)
    cross join lateral (
      select w.ctid from ${allowances} w where w.kind = k.kind and w.period < k.until
      order by w.period limit ${PIECE} for update skip locked
    ) w limit ${PIECE}`;
  return deletePiece(ctx, sql`delete from ${allowances} where ${isAmong(over)}`);
}
