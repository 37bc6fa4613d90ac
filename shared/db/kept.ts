import { type SQL, sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import type * as z from "zod";
import type { Context } from "../platform/context.ts";
import { sha256 } from "../platform/crypto.ts";
import { databaseFailure } from "./client.ts";
import { resultOf, type Step, sendInOne, sendInTurn, type Written } from "./written.ts";

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

/** A function that the database keeps. */
export interface Installed {
  /** Its name, which changes with what it does: so each Worker calls its own. */
  readonly name: string;
  /** SQL: creates it. */
  readonly definition: string;
}

/** A statement that the database keeps as a function. */
export interface Kept<Name extends string = string> extends Installed {
  /** What it is given, and of which type. */
  readonly given: Readonly<Record<Name, Type>>;
  /** The statement with these values. */
  with(values: Readonly<Record<Name, Value>>): Sendable;
}

/** What each of these statements is given; null leaves it out. */
type ValuesOf<Statements extends readonly Kept[]> = {
  readonly [Place in keyof Statements]: Statements[Place] extends Kept<infer Name>
    ? Readonly<Record<Name, Value>> | null
    : never;
};

/** Kept statements that the database runs one after the other at one call. */
export interface Series<Statements extends readonly Kept[]> extends Installed {
  /** The statements with these values. */
  with(values: ValuesOf<Statements>): Sequence;
}

/** A series in the two forms in which it can be sent. */
export interface Sequence {
  /** A call of the function that runs them. */
  call: SQL;
  /** The statements themselves, in their places; null for those that are left out. */
  plain(): (SQL | null)[];
}

/**
 * A statement that is sent so often that planning it costs as much as carrying it out: the database keeps it as a function,
 * whose plan lasts as long as a connection. A prepared statement would not, since connections are cleaned between requests.
 * `compose` has SQL for each of `given` and must compose the same text each time; `finds` says how it finds its rows. Name
 * it in the list that `migrations/migrate.ts` installs.
 * @example
 * const END = kept("end", { id: "uuid" }, (value) => ({ parts: sql`with ended as (update … where id = ${value("id")} …)`, select: … }))
 * await writeKept(ctx, [END.with({ id })], z.int())
 */
export function kept<Name extends string>(
  label: string,
  given: Readonly<Record<Name, Type>>,
  compose: (value: (name: Name) => SQL) => Step,
  finds: Finds = "by key",
): Kept<Name> {
  const names: Name[] = [];
  for (const name in given) names.push(name);
  let made: { name: string; definition: string } | undefined;
  // Not before it is asked for: a Worker that has no run to carry out composes none.
  const make = () => {
    made ??= functionOf(label, given, finds, statementOf(compose((name) => sql.raw(`p_${name}`))));
    return made;
  };
  return {
    given,
    get name() {
      return make().name;
    },
    get definition() {
      return make().definition;
    },
    with(values) {
      const typed = (name: Name) => sql`${values[name]}::${sql.raw(given[name])}`;
      return { call: callOf(make().name, names.map(typed)), plain: () => statementOf(compose(typed)) };
    },
  };
}

/**
 * Kept statements that follow each other, as one function: a batch of them takes a round trip between Neon's proxy and the
 * database for each, and for the transaction's beginning and end; one call takes a single one, and is whole or not at all by
 * itself. Each sees what those before it did, and what was committed while they waited, as in a batch.
 * @example
 * const END_ALL = inSeries("end_all", [LOCK_AGENTS, END])
 * await writeSeries(ctx, END_ALL.with([{ agents }, { runs, at }]), [z.int(), z.int()])
 */
export function inSeries<const Statements extends readonly Kept[]>(
  label: string,
  statements: Statements,
): Series<Statements> {
  const parameters = statements.map(({ given }, place) =>
    Object.entries(given).map(([name, type]) => ({ name, type, parameter: `p_${place}_${name}` })),
  );
  let made: Installed | undefined;
  const make = () => {
    made ??= seriesOf(label, statements, parameters);
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
      const all = statements.map((_statement, place) => values[place] ?? null);
      const typed = parameters.flatMap((own, place) =>
        own.map(({ name, type }) => sql`${all[place]?.[name] ?? null}::${sql.raw(type)}`),
      );
      return {
        call: callOf(make().name, typed),
        plain: () =>
          statements.map((statement, place) => {
            const own = all[place];
            return own === null || own === undefined ? null : statement.with(own).plain();
          }),
      };
    },
  };
}

function callOf(name: string, values: SQL[]): SQL {
  return sql`select ${sql.identifier(name)}(${sql.join(values, sql`, `)}) as result`;
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

/** How the results of a series are read. */
type ResultsOf<Results extends readonly z.ZodType[]> = {
  -readonly [Place in keyof Results]: z.output<Results[Place]> | null;
};

/**
 * Runs a series in one round trip, whole or not at all, and returns the result of each of its statements; null stands for
 * one that selected no row, or was left out. No Idempotency-Key is heeded.
 */
export async function writeSeries<const Results extends readonly z.ZodType[]>(
  ctx: Context,
  sequence: Sequence,
  results: Results,
): Promise<ResultsOf<Results>>;
export async function writeSeries(ctx: Context, sequence: Sequence, results: readonly z.ZodType[]): Promise<unknown[]> {
  const written = await sendInOne(ctx, sequence.call).catch((error: unknown) => {
    warnOfMissing(ctx, error);
    return sendOneByOne(ctx, sequence.plain());
  });
  return results.map((result, place) => resultIn(written[place]?.result, result));
}

/** The statements of a series themselves, in one batch. */
async function sendOneByOne(ctx: Context, statements: readonly (SQL | null)[]): Promise<(Written | null)[]> {
  const written = await sendInTurn(
    ctx,
    statements.filter((statement) => statement !== null),
  );
  return statements.map((statement) => (statement === null ? null : (written.shift() ?? null)));
}

/** The results of the statements. A database that is older or newer than this Worker has not kept them: then they are sent themselves. */
async function sendKept(ctx: Context, statements: readonly Sendable[], lock?: SQL): Promise<unknown[]> {
  const calls = statements.map(({ call }) => call);
  const written = await sendInTurn(ctx, calls, lock).catch((error: unknown) => {
    warnOfMissing(ctx, error);
    return sendInTurn(
      ctx,
      statements.map(({ plain }) => plain()),
      lock,
    );
  });
  return written.map(({ result }) => result);
}

/** Throws the error again, unless it says that the database does not have a function. */
function warnOfMissing(ctx: Context, error: unknown): void {
  if (databaseFailure(error)?.code !== UNDEFINED_FUNCTION) throw error;
  ctx.log.warn("the database has not kept these statements: migrate it, or deploy what it was migrated for");
}

function resultIn<Result extends z.ZodType>(found: unknown, result: Result): z.output<Result> | null {
  return found === null || found === undefined ? null : result.parse(found);
}

const UNDEFINED_FUNCTION = "42883";

function statementOf(step: Step): SQL {
  return sql`${step.parts} ${resultOf(step)}`;
}

/**
 * How a statement finds its rows: each by its key, or, where it sums up sets of them, as the planner sees fit. The plan is
 * made for no particular values, so that a connection's first is its last until the tables change, and what they held by
 * then must not matter: a table that was nearly empty looks cheaper to read whole than by key, and may hold a million rows
 * when the plan is used.
 */
type Finds = "by key" | "in sets";

/** Ways to read a table that take no heed of how few of its rows are asked for, or of which of them are dead. */
const WHOLESALE = ["seqscan", "bitmapscan", "hashjoin", "mergejoin"];

function functionOf(label: string, given: Readonly<Record<string, Type>>, finds: Finds, statement: SQL) {
  const parameters = Object.entries(given).map(([name, type]) => `p_${name} ${type}`);
  const { sql: text } = new PgDialect().sqlToQuery(statement.inlineParams());
  const body = `#variable_conflict use_column
declare
  v_result jsonb;
begin
  ${text} into v_result;
  return v_result;
end`;
  const ruledOut = finds === "by key" ? WHOLESALE.map((way) => ` set enable_${way} = off`).join("") : "";
  return installed(
    label,
    `(${parameters.join(", ")}) returns jsonb language plpgsql
set plan_cache_mode = force_generic_plan${ruledOut} as '${body.replaceAll("'", "''")}'`,
  );
}

/** Statement by statement, since the order in which one statement calls functions is nobody's promise. */
function seriesOf(
  label: string,
  statements: readonly Kept[],
  parameters: readonly (readonly { type: Type; parameter: string }[])[],
): Installed {
  const names = (place: number) => (parameters[place] ?? []).map(({ parameter }) => parameter).join(", ");
  const calls = statements.map(
    ({ name }, place) => `  if num_nonnulls(${names(place)}) > 0 then v_${place} := ${name}(${names(place)}); end if;`,
  );
  const variables = statements.map((_statement, place) => `v_${place}`);
  const declared = parameters.flat().map(({ parameter, type }) => `${parameter} ${type}`);
  return installed(
    label,
    `(${declared.join(", ")}) returns jsonb language plpgsql as '
declare
  ${variables.map((variable) => `${variable} jsonb;`).join(" ")}
begin
${calls.join("\n")}
  return jsonb_build_array(${variables.join(", ")});
end'`,
  );
}

function installed(label: string, rest: string): Installed {
  const name = `${KEPT_PREFIX}${label}_${sha256(rest).slice(0, 12)}`;
  return { name, definition: `create function ${name}${rest}` };
}

/** What the names of all these functions begin with. */
export const KEPT_PREFIX = "kept_";
