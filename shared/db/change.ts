import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import type { Context, Question } from "../platform/context.ts";
import type { Problem } from "../platform/problem.ts";
import { resultOf, sendInTurn, sendMessages, type Step, Written } from "./written.ts";
import { runOnce } from "./statement.ts";

/** What a change decides before it does anything: SQL that gives `done`, or the name of the first case that holds. */
export interface Verdict<Case extends string> {
  readonly sql: SQL;
  readonly cases: readonly Case[];
}

/**
 * A verdict by these conditions, in their order. Each name is said once, for the SQL and for the types: `change` then asks
 * for a refusal of every case. `later` names cases that the result gives itself, once it is known what was done.
 * @example
 * verdict({ forbidden: sql`not t.allowed`, full: sql`t.used >= 5` }).sql
 * // case when not t.allowed then 'forbidden' when t.used >= 5 then 'full' else 'done' end
 */
export function verdict<Case extends string, Later extends string = never>(
  conditions: Readonly<Record<Case, SQL>>,
  ...later: readonly Later[]
): Verdict<Case | Later> {
  const cases: (Case | Later)[] = [...later];
  const branches: SQL[] = [];
  for (const name in conditions) {
    cases.push(name);
    branches.push(sql`when ${conditions[name]} then ${sql.raw(`'${name}'`)}`);
  }
  return { sql: sql`case ${sql.join(branches, sql` `)} else 'done' end`, cases };
}

/** The verdict of a change that is done wherever its target exists. */
export const ALWAYS: Verdict<never> = { sql: sql`'done'`, cases: [] };

/** Makes the problem of a refused change from what its result says, such as how much of a quota is used. */
export type Refusal = (result: unknown) => Problem;

/** A refusal that tells what `details` reads of the result. */
export function telling<Details extends z.ZodType>(
  details: Details,
  refusal: (details: z.output<Details>) => Problem,
): Refusal {
  return (result) => refusal(details.parse(result));
}

/** One change of the data: what it waits for, what it does, and how its result is read. */
export interface Change<Done extends z.ZodType, Case extends string> extends Omit<Step, "select"> {
  /** Runs first, in the same transaction: the statement then sees what those it waited for have committed. */
  lock?: SQL;
  /**
   * Selects the column `result` of at most one row: a JSON object of `outcome`, the verdict, and what `done` or a refusal
   * reads. Without a row the change is `not_found`.
   */
  result: SQL;
  verdict: Verdict<Case>;
  /** What the result holds when the change is done. */
  done: Done;
  /** The problem of each case: one that is missing does not compile. */
  refusals: Readonly<Record<Case, Refusal>> & { readonly not_found: () => Problem };
}

const Judged = z.looseObject({ outcome: z.string() });

/**
 * Makes one change in one round trip, whole or not at all, and returns its result; throws the refusal of the case that
 * held. What it owes the queue is sent after the answer, and what is lost on that way the sweeper finds. Where the request
 * carries an Idempotency-Key, a change that was made before is not made again: its result, or its refusal, comes again.
 */
export async function change<Done extends z.ZodType, Case extends string>(
  ctx: Context,
  { verdict: { cases }, done, refusals, ...spec }: Change<Done, Case>,
): Promise<z.output<Done>> {
  const result = await write(ctx, { ...spec, result: z.unknown(), select: spec.result });
  if (result === null) throw refusals.not_found();
  const { outcome } = Judged.parse(result);
  if (outcome === "done") return done.parse(result);
  const refused = cases.find((name) => name === outcome);
  if (refused === undefined) throw new Error(`a change came to ${outcome}, which its verdict does not name`);
  throw refusals[refused](result);
}

/** A write that nothing can refuse: work of the service itself, or one whose caller judges an absent result. */
export interface Write<Result extends z.ZodType> extends Step {
  lock?: SQL;
  /** How it is read; null stands for no row. */
  result: Result;
}

/**
 * Makes one write as `change` does, and returns its result, or null where it selected no row. Under an
 * Idempotency-Key only one write of a request may be made this way, the one that gives the answer: it takes the key.
 */
export async function write<Result extends z.ZodType>(
  ctx: Context,
  { lock, result, ...step }: Write<Result>,
): Promise<z.output<Result> | null> {
  const { found, replayed } = await runOnce(ctx, step.parts, resultOf(step), lock);
  const written = Written.parse(found);
  // A result that was kept is of a change whose messages were sent, or are the sweeper's.
  if (!replayed) sendMessages(ctx, [written]);
  return written.result === null ? null : result.parse(written.result);
}

/**
 * Makes writes that build on each other in one round trip, whole or not at all: each of `then` sees what those before it
 * did. Returns the result of the first. No Idempotency-Key is heeded: this is for work of the service itself.
 */
export async function writeInTurn<Result extends z.ZodType>(
  ctx: Context,
  { lock, result, ...first }: Write<Result> & { lock: SQL },
  then: readonly Step[],
): Promise<z.output<Result> | null> {
  const statements = [first, ...then].map((step) => sql`${step.parts} ${resultOf(step)}`);
  const row = (await sendInTurn(ctx, statements, lock))[0]?.result ?? null;
  return row === null ? null : result.parse(row);
}

/**
 * Reads at most one row with the column `result`, its only one, in one round trip; null where there is none. What is still
 * to be asked about the caller is decided in the same statement.
 */
export async function read<Result extends z.ZodType>(
  ctx: Context,
  result: Result,
  statement: SQL,
): Promise<z.output<Result> | null> {
  const { question } = ctx;
  const rows =
    question === null || question.found !== null ? rowsOf(ctx, statement) : answering(ctx, question, statement);
  const found = (await rows)[0]?.result ?? null;
  return found === null ? null : result.parse(found);
}

async function rowsOf(ctx: Context, statement: SQL) {
  return (await ctx.db.execute<{ result: unknown; holds?: unknown }>(statement)).rows;
}

/** The rows of a reading statement that answers a question, too. */
function answering(ctx: Context, question: Question, statement: SQL) {
  const rows = rowsOf(ctx, sql`select (${statement}) as result, ${question.condition} as holds`);
  question.found = rows.then(([row]) => row?.holds === true);
  // Whoever asked hears of a failure; the read itself fails as well.
  question.found.catch(() => undefined);
  return rows;
}
