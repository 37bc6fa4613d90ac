import { type SQL, sql } from "drizzle-orm";
import type { Context } from "../platform/context.ts";
import { readJson } from "./statement.ts";

/** What one piece of longer work came to. */
export interface Piece {
  /** Where the next piece begins, in the work's own words; null when all is done. */
  next: string | null;
  /** What failed in it, where the work went on without that. */
  failure?: unknown;
}

/** What comes after a piece that took `rows` of at most `size`: another one, unless fewer were left than it may take. */
export function after(rows: number, size: number): Piece {
  return { next: rows < size ? null : "more" };
}

/** Carries out a `deletion` once, which takes away at most `size` rows, or what is in them, and returns a row for each. */
export async function deletePiece(ctx: Context, deletion: SQL, size: number): Promise<Piece> {
  const statement = sql`with gone as (${deletion}) select to_jsonb(count(*)) as result from gone`;
  return after((await readJson<number>(ctx, statement)) ?? 0, size);
}
