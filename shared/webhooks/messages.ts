import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import type { Context } from "../platform/context.ts";
import { oweAnew } from "../db/owed.ts";

/** The message that has one attempt made. */
export const DeliveryMessage = z.strictObject({ delivery_id: z.uuid() });

/** Generations start again after so many milliseconds: 25 days, while the queue forgets duplicates within minutes. */
const GENERATIONS = 2 ** 31;

/**
 * SQL: owes the queue a message for each attempt of `source`, a query of `id`, `webhook_id` and `due`, the time before
 * which it is not made (null: at once). The flow key limits how many attempts to one subscription run at once, so that
 * a slow receiver does not hold up others. Its rows are what `owed` collects.
 */
export function oweAttempts(ctx: Pick<Context, "now">, source: SQL): SQL {
  // Without it the queue would take a message that is owed anew for a duplicate of the one before.
  const generation = ctx.now().getTime() % GENERATIONS;
  return oweAnew(
    "deliver",
    sql`select id, ${generation}::integer as generation, jsonb_build_object('delivery_id', id) as body,
      webhook_id::text as flow_key, due as not_before from (${source}) a`,
  );
}
