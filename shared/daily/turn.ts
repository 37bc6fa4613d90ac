import { sql } from "drizzle-orm";
import { databaseFailure, describeError } from "../db/client.ts";
import { daily_work } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { Problem } from "../platform/problem.ts";
import { flush } from "../db/outbox.ts";
import { owed } from "../db/owed.ts";
import type { Message } from "../platform/message.ts";
import { DAILY_ITEMS, type DailyItem } from "./items.ts";
import { type DailyMessage, oweTurns } from "./message.ts";

/** No piece is begun after so long: a turn ends well before the queue gives its delivery up. */
const MAX_MS = 30_000;

/**
 * Does an item's next pieces, as many as one delivery takes, and owes the message for those that are left in the statement
 * that keeps where they begin. A message that is late, or comes twice, does nothing. What fails is kept for `dailyStates`
 * and thrown; the next try goes on where this one stopped.
 */
export async function takeTurn(ctx: Context, message: DailyMessage): Promise<void> {
  const item = DAILY_ITEMS.find(({ name }) => name === message.name);
  const begun = await readJson<{ cursor: string | null }>(
    ctx,
    sql`select jsonb_build_object('cursor', cursor) as result from ${daily_work} where ${its(message)}`,
  );
  if (item === undefined || begun === null) return;
  const outcome = await doPieces(ctx, item, begun.cursor);
  const keeping = keep(ctx, message, outcome);
  if (outcome.isThrown) {
    await keeping.catch(() => undefined);
    throw outcome.error;
  }
  const messages = await keeping;
  // Not after the answer: while a delivery is under way the item's next message is not yet to be waited for.
  await flush(ctx, messages).catch((error: unknown) => {
    ctx.log.warn("publication left to the sweeper", { detail: describeError(error) });
  });
}

interface Outcome {
  /** Where the next piece begins; null when the item is done, or failed at its beginning. */
  next: string | null;
  /** What failed; undefined when nothing did. */
  error: unknown;
  /** Whether it ended the turn: what a piece passed over does not. */
  isThrown: boolean;
}

async function doPieces(ctx: Context, item: DailyItem, cursor: string | null): Promise<Outcome> {
  const since = ctx.now().getTime();
  let next = cursor;
  let error: unknown;
  for (let piece = 0; piece < item.pieces && ctx.now().getTime() - since < MAX_MS; piece += 1) {
    try {
      const done = await item.work(ctx, next);
      next = done.next;
      error = done.failure ?? error;
    } catch (thrown) {
      return { next, error: thrown, isThrown: true };
    }
    if (next === null) break;
  }
  return { next, error, isThrown: false };
}

/** Keeps what a turn came to, if it is the item's turn still; returns the message for the next one. */
async function keep(ctx: Context, message: DailyMessage, { next, error, isThrown }: Outcome): Promise<Message[]> {
  const goesOn = next !== null && !isThrown;
  const isDone = next === null && !isThrown;
  const reason = error === undefined ? null : reasonOf(error);
  const failed = sql`(is_faulty or ${reason !== null})`;
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const messages = await readJson<Message[]>(
    ctx,
    sql`with kept as (
      update ${daily_work} set cursor = ${next}, turn = case when ${isThrown} then turn else uuidv7() end,
        is_faulty = is_faulty or ${reason !== null && !isThrown},
        last_error = case when ${isDone} and not ${failed} then null else coalesce(${reason}, last_error) end,
        last_success_at = case when ${isDone} and not ${failed} then ${at} else last_success_at end
      where ${its(message)} returning name, turn
    ), left_over as (
      select name, turn from kept where ${goesOn}
    ), messages as (${oweTurns("left_over")}) select ${owed("messages")} as result`,
  );
  return messages ?? [];
}

/** Gives an item up until the next day, when it begins anew, since its message failed for the last time. */
export async function giveTurnUp(ctx: Context, message: DailyMessage): Promise<void> {
  await ctx.db.execute(sql`update ${daily_work} set cursor = null, turn = uuidv7(),
    last_error = coalesce(last_error, 'No try ended in time.') where ${its(message)}`);
}

/** SQL: whether the row is the item's whose turn this message is. */
function its({ name, turn }: DailyMessage) {
  return sql`name = ${name} and turn = ${turn}::uuid`;
}

/** What went wrong, in words that anybody may read: they say nothing of what the data are. */
function reasonOf(error: unknown): string {
  const failure = databaseFailure(error);
  if (failure?.code != null) return `The database refused a statement (SQLSTATE ${failure.code}).`;
  if (failure !== null) return "The database did not answer.";
  return error instanceof Problem
    ? error.message
    : `${error instanceof Error ? error.name : "Error"}; the log says more.`;
}
