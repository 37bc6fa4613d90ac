import { sql } from "drizzle-orm";
import { deletePiece, isFirstBelow, type Piece } from "../db/pieces.ts";
import { provider_events } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";

/** Days for which an event is remembered as done: the provider can repeat one by hand for 30 days at most. */
const EVENT_DAYS = 60;

/** Deletes at most 5,000 of the payment provider's events that were done more than 60 days ago. */
export function forgetProviderEvents(ctx: Context): Promise<Piece> {
  const done = isFirstBelow(provider_events.done_at, sql`now() - ${EVENT_DAYS}::integer * interval '1 day'`);
  return deletePiece(ctx, sql`delete from ${provider_events} where ${done}`);
}
