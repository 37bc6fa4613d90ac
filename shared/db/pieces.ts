import { type SQL, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import * as z from "zod";
import type { Context } from "../platform/context.ts";
import { read } from "./change.ts";

/** The result of one piece of longer work. */
export interface Piece {
  /** Where the next piece begins, in a form that the work defines; null when all is done. */
  next: string | null;
  /** What failed in it, where the work went on without it. */
  failure?: unknown;
}

/** The result of a piece that processed `rows` of at most `size`: another piece follows unless fewer were left than that. */
export function after(rows: number, size: number): Piece {
  return { next: rows < size ? null : "more" };
}

/** How many rows one statement deletes or empties at most. */
export const PIECE = 5000;

/**
 * SQL: the recursive part `name` of a statement: the different ids of a column in the rows for which `where` holds, from behind
 * `start` on, at most `most`, each with its number `n`; the last one is null where there are no more. Each is found by one step
 * in an index on that column, however many rows share it.
 */
export function steppingOver(name: string, column: PgColumn, where: SQL, start: SQL, most: number): SQL {
  const [part, id] = [sql.identifier(name), sql.identifier(column.name)];
  const next = (behind: SQL) =>
    sql`select x.${id} from ${column.table} x where ${where} and x.${id} > ${behind} order by x.${id} limit 1`;
  return sql`${part} as (
    select (${next(start)}) as id, 1 as n
    union all select (${next(sql`s.id`)}), s.n + 1 from ${part} s where s.id is not null and s.n < ${most}
  )`;
}

/** Executes once a `deletion` that deletes or empties at most PIECE rows. */
export async function deletePiece(ctx: Context, deletion: SQL): Promise<Piece> {
  const statement = sql`with deleted as (${deletion} returning 1) select to_jsonb(count(*)) as result from deleted`;
  return after((await read(ctx, z.int(), statement)) ?? 0, PIECE);
}

/**
 * Deletes the rows whose `ctid` the query `rows` selects, at most PIECE, by a `deletion` of those that are `SELECTED`. Another
 * piece follows where it selects so many, even if something else has deleted some of them by the time that they are reached.
 */
export async function deleteSelected(ctx: Context, rows: SQL, deletion: SQL): Promise<Piece> {
  const statement = sql`with selected as materialized (${rows}), deleted as (${deletion})
    select to_jsonb(count(*)) as result from selected`;
  return after((await read(ctx, z.int(), statement)) ?? 0, PIECE);
}

/**
 * SQL: whether a row is one of those whose `ctid` the query `rows` selects. They are read where they lie, whatever the
 * database takes their number to be: a join by their key might read the whole table.
 */
export function isAmong(rows: SQL): SQL {
  return sql`ctid = any (array(${rows}))`;
}

/** SQL: whether a row is one of those that a statement of `deleteSelected` selects. */
export const SELECTED = isAmong(sql`select ctid from selected`);

/**
 * SQL: whether a row is among the first PIECE of its table whose `column` is less than `bound`, by the index that begins with
 * it. What somebody else holds is left for the next time.
 */
export function isFirstBelow(column: PgColumn, bound: SQL): SQL {
  return isAmong(sql`select ctid from ${column.table} where ${column} < ${bound}
    order by ${column} limit ${PIECE} for update skip locked`);
}
