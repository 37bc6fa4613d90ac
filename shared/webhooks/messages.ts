import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { outbox } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";

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
  return sql`insert into ${outbox} (consumer, id, generation, body, flow_key, not_before)
    select 'deliver', id, ${generation}::integer, jsonb_build_object('delivery_id', id), webhook_id::text, due
    from (${source}) a
    on conflict (consumer, id) do update set generation = excluded.generation, not_before = excluded.not_before,
      attempts = 0, due_at = excluded.due_at
    returning consumer, id, generation, body, flow_key, not_before`;
}
