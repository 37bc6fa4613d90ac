import { sql } from "drizzle-orm";
import * as z from "zod";
import { read, write } from "../db/change.ts";
import { databaseFailure, describeError } from "../db/client.ts";
import { daily_work } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { Problem } from "../platform/problem.ts";
import { DAILY_ITEMS, type DailyItem } from "./items.ts";
import { type DailyMessage, oweTurns } from "./message.ts";

/** No piece is begun after so long: a turn ends well before the queue gives up on its delivery. */
const MAX_MS = 30_000;

const Begun = z.object({ cursor: z.string().nullable(), last_success_at: z.coerce.date().nullable() });

/**
 * Does an item's next pieces, as many as one delivery takes. The statement that saves where the remaining ones begin owes
 * the message for them. A message that is late, or comes twice, does nothing. A failure is saved for `workStates` and
 * thrown; the next try goes on where this one stopped.
 */
export async function takeTurn(ctx: Context, message: DailyMessage): Promise<void> {
  const item = DAILY_ITEMS.find(({ name }) => name === message.name);
  const begun = await read(
    ctx,
    Begun,
    sql`select jsonb_build_object('cursor', cursor, 'last_success_at', last_success_at) as result
      from ${daily_work} where ${its(message)}`,
  );
  if (item === undefined || begun === null) return;
  const progress = await doPieces(ctx, item, begun);
  const saving = save(ctx, message, progress);
  if (progress.isThrown) {
    await saving.catch(() => undefined);
    throw progress.error;
  }
  await saving;
}

/** What a turn came to. */
interface Progress {
  /** Where the next piece begins; null when the item is done, or failed at its beginning. */
  next: string | null;
  /** What failed; undefined when nothing did. */
  error: unknown;
  /** Whether the failure ended the turn: one that a piece got past does not. */
  isThrown: boolean;
}

async function doPieces(ctx: Context, item: DailyItem, begun: z.output<typeof Begun>): Promise<Progress> {
  const since = ctx.now().getTime();
  let next = begun.cursor;
  let error: unknown;
  for (let piece = 0; piece < item.pieces && ctx.now().getTime() - since < MAX_MS; piece += 1) {
    try {
      const done = await item.work(ctx, next, begun.last_success_at);
      next = done.next;
      error = done.failure ?? error;
    } catch (thrown) {
      return { next, error: thrown, isThrown: true };
    }
    if (next === null) break;
  }
  return { next, error, isThrown: false };
}

/** Saves what a turn came to, if it is still the item's turn, and publishes the message for the next one. */
async function save(ctx: Context, message: DailyMessage, { next, error, isThrown }: Progress): Promise<void> {
  const goesOn = next !== null && !isThrown;
  const isDone = next === null && !isThrown;
  const reason = error === undefined ? null : reasonOf(error);
  const failed = sql`(is_faulty or ${reason !== null})`;
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  await publishingNow(ctx, (own) =>
    write(own, {
      parts: sql`with saved as (
      update ${daily_work} set cursor = ${next}, turn = case when ${isThrown} then turn else uuidv7() end,
        is_faulty = is_faulty or ${reason !== null && !isThrown},
        last_error = case when ${isDone} and not ${failed} then null else coalesce(${reason}, last_error) end,
        last_success_at = case when ${isDone} and not ${failed} then ${at} else last_success_at end
      where ${its(message)} returning name, turn
    ), remaining as (
      select name, turn from saved where ${goesOn}
    ), messages as (${oweTurns("remaining")})`,
      owes: ["messages"],
      select: sql`select to_jsonb(count(*)) from saved`,
      result: z.number(),
    }),
  );
}

/**
 * Does a write whose messages are published before it returns, and not after the answer: while a delivery is under way,
 * nobody takes the queue for empty.
 */
async function publishingNow(ctx: Context, work: (ctx: Context) => Promise<unknown>): Promise<void> {
  const publishing: Promise<unknown>[] = [];
  await work({ ...ctx, defer: (publish) => void publishing.push(publish()) });
  await Promise.all(publishing).catch((error: unknown) => {
    ctx.log.warn("publication left to the sweeper", { detail: describeError(error) });
  });
}

/** Gives up on an item whose message failed for the last time: it starts from the beginning the next day. */
export async function giveTurnUp(ctx: Context, message: DailyMessage): Promise<void> {
  await ctx.db.execute(sql`update ${daily_work} set cursor = null, turn = uuidv7(),
    last_error = coalesce(last_error, 'No try ended in time.') where ${its(message)}`);
}

/** SQL: whether the row is that of the item, and this message is its current turn. */
function its({ name, turn }: DailyMessage) {
  return sql`name = ${name} and turn = ${turn}::uuid`;
}

/** What went wrong, in words that anybody may read: they reveal no data. */
function reasonOf(error: unknown): string {
  const failure = databaseFailure(error);
  if (failure?.code != null) return `The database refused a statement (SQLSTATE ${failure.code}).`;
  if (failure !== null) return "The database did not answer.";
  return error instanceof Problem
    ? error.message
    : `${error instanceof Error ? error.name : "Error"}; the log says more.`;
}
