import { sql } from "drizzle-orm";
import { deletePiece, type Piece } from "../db/pieces.ts";
import { allowances, provider_events } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { monthOf } from "../plans/plans.ts";

/** Days for which the use of an allowance is kept at least: a run may still give back what it took. */
const ALLOWANCE_DAYS = 35;

/** The daily allowances of an address, of whichever kind: nobody can use what is given back after that day. */
const OF_ADDRESSES = sql`('trial_address', 'lead_source', 'invited_address')`;

/** Days for which an event is remembered as done: the provider can repeat one by hand for 30 days at most. */
const EVENT_DAYS = 60;

/** Rows that one statement deletes. */
const SIZE = 5000;

/**
 * Deletes at most 5,000 rows of allowances whose month, day or hour is long over; those of addresses as soon as their day
 * has passed.
 */
export function forgetAllowances(ctx: Context): Promise<Piece> {
  const today = ctx.now().toISOString().slice(0, 10);
  const month = monthOf(new Date(ctx.now().getTime() - ALLOWANCE_DAYS * 86_400_000));
  // Each period begins with its month.
  return deletePiece(
    ctx,
    sql`delete from ${allowances} where (kind, owner, period) in (
      select kind, owner, period from ${allowances} where left(period, 7) < ${month}
        or (kind in ${OF_ADDRESSES} and period < ${today}) limit ${SIZE}
    ) returning 1`,
    SIZE,
  );
}

/** Deletes at most 5,000 of the payment provider's events that were done more than 60 days ago. */
export function forgetProviderEvents(ctx: Context): Promise<Piece> {
  return deletePiece(
    ctx,
    sql`delete from ${provider_events} where id in (
      select id from ${provider_events} where done_at < now() - ${EVENT_DAYS}::integer * interval '1 day' limit ${SIZE}
    ) returning 1`,
    SIZE,
  );
}
