import { type SQL, sql } from "drizzle-orm";
import { DRAWN } from "./owed.ts";
import { outbox } from "./schema/index.ts";
import type { Context } from "../platform/context.ts";
import type { Message, Publication } from "../platform/message.ts";

/**
 * Publishes messages that a committed statement put into the outbox, and deletes the rows of those that the queue accepted:
 * call it through `ctx.defer`. Those that are owed until they are done stay for their consumers to delete. A message that
 * the queue refuses stays and is postponed; one that was lost because the queue failed is found by the sweeper. Throws
 * where the queue failed.
 */
export async function flush(ctx: Context, messages: readonly Message[]): Promise<void> {
  const { taken, refused, failure } = await publish(ctx, messages);
  await settle(ctx, { taken, refused });
  if (failure !== null) throw failure;
}

/**
 * Publishes messages whose consumers delete the rows in their own first statement, which saves a round trip here. Throws
 * where the queue failed.
 */
export async function hand(ctx: Context, messages: readonly Message[]): Promise<void> {
  const { failure } = await publish(ctx, messages);
  if (failure !== null) throw failure;
}

/** The most that one batch of a sweep claims, and the most batches of a sweep. Neon returns at most ten megabytes. */
const BATCH_SIZE = { rows: 500, bytes: 4_000_000 };
const MAX_BATCHES = 20;
/** After this time no further batch is begun: the next minute's sweep goes on. */
const SWEEP_MS = 40_000;
/** How long a claim keeps other sweeps from a batch, should this one die: longer than a batch takes. */
const CLAIM = sql`interval '2 minutes'`;

/**
 * SQL: how long a message `o` that is owed until it is done is left to the queue before it is published anew: half as long as
 * it has been owed, but longer than the tries of one publication take, and an hour at most.
 */
const LEFT = sql`least(interval '1 hour', greatest(interval '12 minutes', (now() - o.created_at) / 2))`;
/** SQL: whether the message `o` has been owed for so long that it is news no more. */
const isOver = sql`(o.created_at < now() - interval '3 days')`;
/** What `attempts` is of a message that the queue took and that is not done: it does not wait for the queue. */
const TAKEN = sql`-1`;

/**
 * Publishes what is still in the outbox a minute after it was owed, batch by batch until nothing is left, at most 10,000
 * messages a call; returns how many the queue accepted. While the queue is down each call is one probe: the first request
 * that fails ends it, and all rows stay due, so that the first probe to succeed sends everything, however long the queue
 * was down. A row is deleted once the queue has accepted it, unless it is owed until it is done: a message that waits its
 * turn in the queue, and whose consumer has not yet deleted the row itself, is published at most once more. Throws where
 * the queue failed.
 */
export async function sweep(ctx: Context): Promise<number> {
  const end = ctx.now().getTime() + SWEEP_MS;
  let swept = 0;
  for (let batch = 0; batch < MAX_BATCHES && ctx.now().getTime() < end; batch += 1) {
    const messages = await claim(ctx);
    const { taken, kept, refused, failure } = await publish(ctx, messages);
    const answered = new Set([...taken, ...kept, ...refused.map(({ message }) => message)]);
    await settle(ctx, { taken, kept, refused, released: messages.filter((message) => !answered.has(message)) });
    if (failure !== null) throw failure;
    const accepted = taken.length + kept.length;
    swept += accepted;
    // Where the queue refuses a whole batch, the next would most likely only be postponed as well.
    if (accepted === 0) break;
  }
  return swept;
}

/** After how many minutes in the outbox a message is late: the sweeper tries after one, and again after two if it dies. */
const LATE_MINUTES = 5;

/** SQL: whether the queue takes what it is owed, by the messages that are due first. */
export function isQueueTaking(): SQL {
  return sql`(select coalesce(
      min(w.created_at) filter (where w.attempts <> ${TAKEN}) > now() - make_interval(mins => ${LATE_MINUTES}), true)
    from (select created_at, attempts from ${outbox} order by due_at limit ${BATCH_SIZE.rows}) w)`;
}

/** Claims a batch of the messages that are due, so that no other sweep publishes them at the same time. */
async function claim(ctx: Context): Promise<Message[]> {
  const { rows } = await ctx.db.execute<Message & Record<string, unknown>>(sql`
    with due as (
      select consumer, id, due_at, octet_length(body::text) as bytes from ${outbox}
      where due_at <= now() order by due_at limit ${BATCH_SIZE.rows} for update skip locked
    ), batch as (
      select consumer, id, sum(bytes) over (order by due_at, consumer, id) - bytes as bytes_before from due
    )
    update ${outbox} o set due_at = now() + ${CLAIM} from batch b
    where o.consumer = b.consumer and o.id = b.id and b.bytes_before < ${BATCH_SIZE.bytes}
    returning o.consumer, o.id, o.generation, o.body, o.flow_key, to_jsonb(o.not_before) #>> '{}' as not_before`);
  return rows;
}

async function publish(ctx: Context, messages: readonly Message[]): Promise<Publication> {
  const publication = await ctx.queue.publish(messages);
  for (const { message, reason } of publication.refused) {
    ctx.log.error("message refused", { consumer: message.consumer, id: message.id, detail: reason.slice(0, 500) });
  }
  return publication;
}

/**
 * Deletes the rows of the messages that the queue accepted, has those that are `kept` published anew later unless they are
 * over, postpones the refused ones by 1, 2, 4 … 64 minutes, and makes the `released` ones due again, unless something newer
 * is owed about the same thing. Runs no statement where there is nothing to do.
 */
async function settle(
  ctx: Context,
  {
    taken,
    refused,
    kept = [],
    released = [],
  }: Pick<Publication, "taken" | "refused"> & { kept?: readonly Message[]; released?: readonly Message[] },
): Promise<void> {
  const row =
    (next_state: string) =>
    ({ consumer, id, generation }: Message) => ({ consumer, id, generation, next_state });
  const rows = [
    ...taken.map(row("taken")),
    ...kept.map(row("kept")),
    ...refused.map(({ message }) => row("refused")(message)),
    ...released.map(row("released")),
  ];
  if (rows.length > 0) await ctx.db.execute(settlement(JSON.stringify(rows)));
}

function settlement(rows: string): SQL {
  const same = sql`o.consumer = m.consumer and o.id = m.id and o.generation = m.generation`;
  return sql`with m as (
      select * from jsonb_to_recordset(${rows}::jsonb) as m(consumer text, id uuid, generation integer, next_state text)
    ), postponed as (
      update ${outbox} o set attempts = attempts + 1, due_at = now() + interval '1 minute' * power(2, least(attempts, 6))
      from m where ${same} and m.next_state = 'refused'
    ), kept as (
      update ${outbox} o set attempts = ${TAKEN}, generation = ${DRAWN}, due_at = greatest(now(), o.not_before) + ${LEFT}
      from m where ${same} and m.next_state = 'kept' and not ${isOver}
    ), released as (
      update ${outbox} o set due_at = now() from m where ${same} and m.next_state = 'released'
    )
    delete from ${outbox} o using m
    where ${same} and (m.next_state = 'taken' or (m.next_state = 'kept' and ${isOver}))`;
}
