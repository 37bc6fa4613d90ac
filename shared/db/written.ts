import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import type { Context } from "../platform/context.ts";
import { Message } from "../platform/message.ts";
import { flush, hand } from "./outbox.ts";
import { owed } from "./owed.ts";

/** What one statement of a write does. */
export interface Step {
  /** The parts of the statement: a `with` clause. */
  parts: SQL;
  /** The parts whose rows are messages for the queue, as `owe` and `oweAnew` make them. */
  owes?: readonly [string, ...string[]];
  /**
   * The parts whose rows are messages that their consumers take out of the outbox in their own first statement: they are
   * published without a round trip to the database.
   */
  hands?: readonly [string, ...string[]];
  /** Selects the column `result` of at most one row. */
  select: SQL;
}

/** SQL: selects one row with the column `result`, as `Written` reads it; the parts of the step come before it. */
export function resultOf({ owes, hands, select }: Step): SQL {
  return sql`select jsonb_build_object('result', (${select}), 'owed', ${messagesOf(owes)}, 'handed', ${messagesOf(hands)}) as result`;
}

function messagesOf(parts: Step["owes"]): SQL {
  return parts === undefined ? sql`'[]'::jsonb` : owed(...parts);
}

/** What a statement of a write gives: its result, null where it selected no row, and the messages to be sent. */
export const Written = z.object({
  result: z.unknown().default(null),
  owed: z.array(Message),
  handed: z.array(Message),
});
export type Written = z.output<typeof Written>;

const AllWritten = z.array(Written.nullable());

/**
 * Runs statements that end in `resultOf` in one round trip, whole or not at all, after `lock` where there is one; each sees
 * what those before it did. Sends their messages.
 */
export async function sendInTurn(ctx: Context, statements: readonly SQL[], lock?: SQL): Promise<Written[]> {
  const ran = await run(ctx, lock === undefined ? statements : [lock, ...statements]);
  const written = ran.slice(-statements.length).map(({ rows }) => Written.parse(rows[0]?.result));
  sendMessages(ctx, written);
  return written;
}

/** Runs one statement whose result is a list of such results, null where there is none; sends their messages. */
export async function sendInOne(ctx: Context, statement: SQL): Promise<(Written | null)[]> {
  const [ran] = await run(ctx, [statement]);
  const written = AllWritten.parse(ran?.rows[0]?.result);
  sendMessages(
    ctx,
    written.filter((one) => one !== null),
  );
  return written;
}

async function run(ctx: Context, [first = sql`select`, ...then]: readonly SQL[]) {
  const execute = (statement: SQL) => ctx.db.execute<{ result: unknown }>(statement);
  return then.length === 0 ? [await execute(first)] : ctx.db.batch([execute(first), ...then.map(execute)]);
}

/** Sends the messages of what was written, after the answer. */
export function sendMessages(ctx: Context, written: readonly Written[]): void {
  const due = written.flatMap(({ owed: messages }) => messages);
  const handed = written.flatMap((one) => one.handed);
  if (due.length > 0) ctx.defer(() => flush(ctx, due));
  if (handed.length > 0) ctx.defer(() => hand(ctx, handed));
}
