import { type SQL, sql } from "drizzle-orm";
import { outbox } from "./schema/index.ts";
import type { Context } from "../platform/context.ts";
import type { Message, Publication } from "../platform/message.ts";

/**
 * Publishes what a committed statement put into the outbox, and takes out what the queue took: call it through
 * `ctx.defer`. What the queue refuses stays and is put off; what it fails is found by the sweeper. Throws where the queue
 * failed.
 */
export async function flush(ctx: Context, messages: readonly Message[]): Promise<void> {
  const { taken, refused, failure } = await publish(ctx, messages);
  await settle(ctx, { taken, refused });
  if (failure !== null) throw failure;
}

/**
 * Publishes such messages whose consumers take their rows out in their own first statement: a round trip less. Throws where
 * the queue failed.
 */
export async function hand(ctx: Context, messages: readonly Message[]): Promise<void> {
  const { failure } = await publish(ctx, messages);
  if (failure !== null) throw failure;
}

/** What one piece of a sweep takes at most, and how many pieces there are. Neon gives no answer beyond ten megabytes. */
const PIECE = { rows: 500, bytes: 4_000_000 };
const MAX_PIECES = 20;
/** After so long no further piece is begun: the next minute's sweep goes on. */
const SWEEP_MS = 40_000;
/** So long a claim keeps other sweeps from a piece, should this one die: longer than a piece takes. */
const CLAIM = sql`interval '2 minutes'`;

/**
 * Publishes what is left in the outbox a minute after it was owed, piece by piece until nothing is, at most 10,000
 * messages a call; returns how many the queue took. While the queue is away each call is one probe: the first request that
 * fails ends it, and all rows stay due, so that the first probe to go through takes everything along, however long it was
 * away. A row is taken out once the queue has it: a message that waits its turn there, and whose consumer has not yet
 * taken the row out itself, is published again once and no more. Throws where the queue failed.
 */
export async function sweep(ctx: Context): Promise<number> {
  const end = ctx.now().getTime() + SWEEP_MS;
  let swept = 0;
  for (let piece = 0; piece < MAX_PIECES && ctx.now().getTime() < end; piece += 1) {
    const messages = await claim(ctx);
    const { taken, refused, failure } = await publish(ctx, messages);
    const told = new Set([...taken, ...refused.map(({ message }) => message)]);
    await settle(ctx, { taken, refused, released: messages.filter((message) => !told.has(message)) });
    if (failure !== null) throw failure;
    swept += taken.length;
    // Where the queue refuses a whole piece, more of the same would only be put off as well.
    if (taken.length === 0) break;
  }
  return swept;
}

/** Takes a piece of what is due from other sweeps. */
async function claim(ctx: Context): Promise<Message[]> {
  const { rows } = await ctx.db.execute<Message & Record<string, unknown>>(sql`
    with due as (
      select consumer, id, due_at, octet_length(body::text) as bytes from ${outbox}
      where due_at <= now() order by due_at limit ${PIECE.rows} for update skip locked
    ), piece as (
      select consumer, id, sum(bytes) over (order by due_at, consumer, id) - bytes as before from due
    )
    update ${outbox} o set due_at = now() + ${CLAIM} from piece p
    where o.consumer = p.consumer and o.id = p.id and p.before < ${PIECE.bytes}
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
 * Deletes the rows of what was taken, puts those of what was refused off by 1, 2, 4 … 64 minutes, and makes those of what
 * is `released` due again, unless something newer is owed about the same thing. No statement where there is nothing to say.
 */
async function settle(
  ctx: Context,
  { taken, refused, released = [] }: Pick<Publication, "taken" | "refused"> & { released?: readonly Message[] },
): Promise<void> {
  const row =
    (fate: string) =>
    ({ consumer, id, generation }: Message) => ({ consumer, id, generation, fate });
  const rows = [
    ...taken.map(row("taken")),
    ...refused.map(({ message }) => row("refused")(message)),
    ...released.map(row("released")),
  ];
  if (rows.length > 0) await ctx.db.execute(settling(JSON.stringify(rows)));
}

function settling(rows: string): SQL {
  const same = sql`o.consumer = m.consumer and o.id = m.id and o.generation = m.generation`;
  return sql`with m as (
      select * from jsonb_to_recordset(${rows}::jsonb) as m(consumer text, id uuid, generation integer, fate text)
    ), put_off as (
      update ${outbox} o set attempts = attempts + 1, due_at = now() + interval '1 minute' * power(2, least(attempts, 6))
      from m where ${same} and m.fate = 'refused'
    ), released as (
      update ${outbox} o set due_at = now() from m where ${same} and m.fate = 'released'
    )
    delete from ${outbox} o using m where ${same} and m.fate = 'taken'`;
}
