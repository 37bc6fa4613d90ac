import { type SQL, sql } from "drizzle-orm";
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

/** Executes once a `deletion` that deletes or empties at most `size` rows and returns a row for each. */
export async function deletePiece(ctx: Context, deletion: SQL, size: number): Promise<Piece> {
  const statement = sql`with deleted as (${deletion}) select to_jsonb(count(*)) as result from deleted`;
  return after((await read(ctx, z.int(), statement)) ?? 0, size);
}
