import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../../db/change.ts";
import { CHUNK, type Closing } from "../../db/closing.ts";
import type { Context } from "../../platform/context.ts";

/** The chunks of all domains, in the order in which they are gone through: what refers to others is deleted first. */
export function chunksOf(closings: readonly Closing[]): readonly SQL[] {
  return [
    ...closings.flatMap(({ ending }) => ending ?? []),
    ...closings.toReversed().flatMap(({ chunks }) => chunks ?? []),
  ];
}

/**
 * Removes what a closed account leaves: each domain ends, deletes or strips its rows chunk by chunk, from the chunk `from`
 * of all on, and then what remains. Returns at which chunk to go on once `most` statements are sent, or null when all is
 * done. Whoever begins further on goes through all of it once more, for what has come in meanwhile.
 */
export async function removeContent(
  ctx: Context,
  closings: readonly Closing[],
  from: number,
  most: number,
): Promise<number | null> {
  let sent = 0;
  for (const [index, chunk] of chunksOf(closings).entries()) {
    const statement = sql`${chunk} select to_jsonb(count(*)) as result from done`;
    for (let done = index < from ? 0 : CHUNK; done === CHUNK; sent += 1) {
      if (sent === most) return index;
      done = (await read(ctx, z.int(), statement)) ?? 0;
    }
  }
  if (from > 0) return 0;
  const [first, ...others] = closings
    .toReversed()
    .flatMap(({ rest }) => rest ?? [])
    .map((statement) => ctx.db.execute(statement));
  if (first !== undefined) await ctx.db.batch([first, ...others]);
  return null;
}
