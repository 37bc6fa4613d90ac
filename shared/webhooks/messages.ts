import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import type { Context } from "../platform/context.ts";
import { oweAnew } from "../db/owed.ts";

/** The message that has one attempt made. */
export const DeliveryMessage = z.strictObject({ delivery_id: z.uuid() });

/** Generations start anew after so many milliseconds: 25 days, where the queue forgets repeats within minutes. */
const GENERATIONS = 2 ** 31;

/**
 * SQL: owes the queue a message for each attempt of `source`, a query of its `id`, its `webhook_id`, and in `due` before
 * when it is not made (null: at once). The flow key keeps the attempts to one subscription within bounds, and a slow
 * receiver from holding up others. Its rows are what `owed` collects.
 */
export function oweAttempts(ctx: Pick<Context, "now">, source: SQL): SQL {
  // Tells a message that is owed anew from the one before, which the queue would take for the same.
  const generation = ctx.now().getTime() % GENERATIONS;
  return oweAnew(
    "deliver",
    sql`select id, ${generation}::integer as generation, jsonb_build_object('delivery_id', id) as body,
      webhook_id::text as flow_key, due as not_before from (${source}) a`,
  );
}
