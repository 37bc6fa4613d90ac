import { type SQL, sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import type * as z from "zod";
import type { Context } from "../platform/context.ts";
import { sha256 } from "../platform/crypto.ts";
import { databaseFailure } from "./client.ts";
import { resultOf, type Step, sendInTurn } from "./written.ts";

/** The types of what a kept statement is given. */
type Type = "uuid" | "text" | "integer" | "boolean" | "jsonb" | "bytea" | "timestamptz";
/** A value; SQL where the driver knows no parameter of the type, as for bytes. */
type Value = string | number | boolean | null | SQL;

/** A statement in the two forms in which it can be sent. */
export interface Sendable {
  /** A call of the function that keeps it. */
  call: SQL;
  /** The statement itself. */
  plain(): SQL;
}

/** A statement that the database keeps as a function. */
export interface Kept<Name extends string = string> {
  /** The function's name, which changes with the statement: so each Worker calls its own. */
  readonly name: string;
  /** SQL: creates the function. */
  readonly definition: string;
  /** The statement with these values. */
  with(values: Readonly<Record<Name, Value>>): Sendable;
}

/**
 * A statement that is sent so often that planning it costs as much as carrying it out: the database keeps it as a function,
 * whose plan lasts as long as a connection. A prepared statement would not, since connections are cleaned between requests.
 * `compose` has SQL for each of `given` and must compose the same text each time. Name it in the list that
 * `migrations/migrate.ts` installs.
 * @example
 * const END = kept("end", { id: "uuid" }, (value) => ({ parts: sql`with ended as (update … where id = ${value("id")} …)`, select: … }))
 * await writeKept(ctx, [END.with({ id })], z.int())
 */
export function kept<Name extends string>(
  label: string,
  given: Readonly<Record<Name, Type>>,
  compose: (value: (name: Name) => SQL) => Step,
): Kept<Name> {
  const names: Name[] = [];
  for (const name in given) names.push(name);
  let made: { name: string; definition: string } | undefined;
  // Not before it is asked for: a Worker that has no run to carry out composes none.
  const make = () => {
    made ??= functionOf(label, given, statementOf(compose((name) => sql.raw(`p_${name}`))));
    return made;
  };
  return {
    get name() {
      return make().name;
    },
    get definition() {
      return make().definition;
    },
    with(values) {
      const typed = (name: Name) => sql`${values[name]}::${sql.raw(given[name])}`;
      return {
        call: sql`select ${sql.identifier(make().name)}(${sql.join(names.map(typed), sql`, `)}) as result`,
        plain: () => statementOf(compose(typed)),
      };
    },
  };
}

/** A statement that is not kept, to be sent among those that are. */
export function unkept(step: Step): Sendable {
  const call = statementOf(step);
  return { call, plain: () => call };
}

/**
 * Makes writes that build on each other in one round trip, whole or not at all, as `writeInTurn` does, of statements that the
 * database keeps. Returns the result of the first, or null where it selected no row. No Idempotency-Key is heeded.
 */
export async function writeKept<Result extends z.ZodType>(
  ctx: Context,
  statements: readonly [Sendable, ...Sendable[]],
  result: Result,
  lock?: SQL,
): Promise<z.output<Result> | null> {
  const [found] = await sendKept(ctx, statements, lock);
  return resultIn(found, result);
}

/** As `writeKept`, but returns the results of both statements; null stands for a statement that there is no need of. */
export async function writeBothKept<First extends z.ZodType, Second extends z.ZodType>(
  ctx: Context,
  [first, second]: readonly [Sendable | null, Sendable | null],
  results: readonly [First, Second],
): Promise<[z.output<First> | null, z.output<Second> | null]> {
  const found = await sendKept(
    ctx,
    [first, second].filter((statement) => statement !== null),
  );
  return [
    resultIn(first === null ? null : found.at(0), results[0]),
    resultIn(second === null ? null : found.at(-1), results[1]),
  ];
}

/** The results of the statements. A database that is older or newer than this Worker has not kept them: then they are sent themselves. */
async function sendKept(ctx: Context, statements: readonly Sendable[], lock?: SQL): Promise<unknown[]> {
  const calls = statements.map(({ call }) => call);
  const written = await sendInTurn(ctx, calls, lock).catch((error: unknown) => {
    if (databaseFailure(error)?.code !== UNDEFINED_FUNCTION) throw error;
    ctx.log.warn("the database has not kept these statements: migrate it, or deploy what it was migrated for");
    return sendInTurn(
      ctx,
      statements.map(({ plain }) => plain()),
      lock,
    );
  });
  return written.map(({ result }) => result);
}

function resultIn<Result extends z.ZodType>(found: unknown, result: Result): z.output<Result> | null {
  return found === null || found === undefined ? null : result.parse(found);
}

const UNDEFINED_FUNCTION = "42883";

function statementOf(step: Step): SQL {
  return sql`${step.parts} ${resultOf(step)}`;
}

/** The plan is made for no particular values, so that a connection's first is its last until the tables change. */
function functionOf(label: string, given: Readonly<Record<string, Type>>, statement: SQL) {
  const parameters = Object.entries(given).map(([name, type]) => `p_${name} ${type}`);
  const { sql: text } = new PgDialect().sqlToQuery(statement.inlineParams());
  const body = `#variable_conflict use_column
declare
  v_result jsonb;
begin
  ${text} into v_result;
  return v_result;
end`;
  const rest = `(${parameters.join(", ")}) returns jsonb language plpgsql
set plan_cache_mode = force_generic_plan as '${body.replaceAll("'", "''")}'`;
  const name = `${KEPT_PREFIX}${label}_${sha256(rest).slice(0, 12)}`;
  return { name, definition: `create function ${name}${rest}` };
}

/** What the names of all these functions begin with. */
export const KEPT_PREFIX = "kept_";
