import { type SQL, sql } from "drizzle-orm";
import type { Context } from "../platform/context.ts";
import { readJson } from "./statement.ts";

/** How many rows one statement takes at most, and how many statements there are at one time. */
export interface Pieces {
  size: number;
  most: number;
}

/** Does `piece`, which tells how many rows it took, until one takes less than a whole one; returns how many rows in all. */
export async function inPieces(piece: () => Promise<number>, { size, most }: Pieces): Promise<number> {
  let taken = 0;
  for (let turn = 0; turn < most; turn += 1) {
    const rows = await piece();
    taken += rows;
    if (rows < size) break;
  }
  return taken;
}

/**
 * Carries out a `deletion`, which deletes at most `size` rows and returns a row for each, until there is no more to
 * delete, at most `most` times; what is left then waits for the next call. Returns how many rows are gone.
 */
export function deleteInPieces(ctx: Context, deletion: SQL, pieces: Pieces): Promise<number> {
  const statement = sql`with gone as (${deletion}) select to_jsonb(count(*)) as result from gone`;
  return inPieces(async () => (await readJson<number>(ctx, statement)) ?? 0, pieces);
}
