import { type SQL, sql } from "drizzle-orm";
import type { Context } from "../platform/context.ts";
import { readJson } from "./statement.ts";

/**
 * Carries out a `deletion`, which deletes at most `size` rows and returns a row for each, until there is no more to
 * delete, at most `most` times; what is left then waits for the next call. Returns how many rows are gone.
 */
export async function deleteInPieces(
  ctx: Context,
  deletion: SQL,
  { size, most }: { size: number; most: number },
): Promise<number> {
  let deleted = 0;
  for (let piece = 0; piece < most; piece += 1) {
    const gone = await readJson<number>(
      ctx,
      sql`with gone as (${deletion}) select to_jsonb(count(*)) as result from gone`,
    );
    deleted += gone ?? 0;
    if ((gone ?? 0) < size) break;
  }
  return deleted;
}
