import { type SQL, sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";

const dialect = new PgDialect();

/**
 * SQL: the same statement, whose plan the database keeps for as long as its connection lives. For statements that are sent
 * for each run, and take longer to plan than to run. The statement selects the one column `result`, jsonb, of at most one
 * row, and its text is the same each time, all that changes being parameters: each other text keeps a plan of its own.
 * @example
 * const { rows } = await ctx.db.execute<{ result: unknown }>(kept(sql`select to_jsonb(${n}::integer) as result`))
 */
export function kept(statement: SQL): SQL {
  const { sql: text, params } = dialect.sqlToQuery(statement);
  return sql`select kept_plan(${text}, ${sql.param(params.map(textOf))}::text[]) as result`;
}

function textOf(value: unknown): string | null {
  if (value === null || typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new TypeError(`a parameter of a kept statement is no text, number or boolean, but ${typeof value}`);
}
