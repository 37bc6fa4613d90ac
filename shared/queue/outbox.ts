import { type SQL, sql } from "drizzle-orm";
import { outbox } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import type { Message } from "./publish.ts";

/**
 * Publishes what a committed statement put into the outbox, and takes it out: call it through `ctx.defer`. What fails
 * here is found by the sweeper.
 */
export async function flush(ctx: Context, messages: readonly Message[]): Promise<void> {
  if (messages.length === 0) return;
  await ctx.queue.publish(messages);
  await ctx.db.execute(settle(messages));
}

/** Deletes the rows of these messages. Where a consumer starts at once, its own first statement does this instead. */
function settle(messages: readonly Message[]): SQL {
  const rows = JSON.stringify(messages.map(({ consumer, id, generation }) => ({ consumer, id, generation })));
  return sql`delete from ${outbox} o
    using jsonb_to_recordset(${rows}::jsonb) as m(consumer text, id uuid, generation integer)
    where o.consumer = m.consumer and o.id = m.id and o.generation = m.generation`;
}

const SWEEP_SIZE = 500;

/**
 * Publishes messages whose first publication was lost, at most 500 a call; returns how many. Tries again after 1, 2, 4
 * … 64 minutes, so that a message that only waits its turn in the queue is not repeated every minute.
 */
export async function sweep(ctx: Context): Promise<number> {
  const { rows } = await ctx.db.execute<Message & Record<string, unknown>>(sql`
    update ${outbox} o
       set attempts = attempts + 1, due_at = now() + interval '1 minute' * power(2, least(attempts, 6))
     where (consumer, id) in (
       select consumer, id from ${outbox} where due_at <= now() order by due_at limit ${SWEEP_SIZE} for update skip locked
     )
    returning consumer, id, generation, body, flow_key, to_jsonb(not_before) #>> '{}' as not_before`);
  await flush(ctx, rows);
  return rows.length;
}
