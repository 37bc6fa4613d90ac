import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../../db/change.ts";
import { CHUNK, type Closing } from "../../db/closing.ts";
import type { Context } from "../../platform/context.ts";

/** How many more statements over a chunk of rows may be sent. */
export interface Budget {
  chunks: number;
}

/**
 * Removes what a closed account leaves: each domain deletes or strips its rows chunk by chunk, those that refer to others
 * first, and then what remains. A budget that runs out leaves the rest to the next time. Returns whether all is done.
 */
export async function removeContent(
  ctx: Context,
  userId: string,
  closings: readonly Closing[],
  budget: Budget,
): Promise<boolean> {
  const referringFirst = closings.toReversed();
  for (const chunk of referringFirst.flatMap(({ chunks }) => chunks ?? [])) {
    const statement = sql`${chunk} select to_jsonb(count(*)) as result from done`;
    for (let done = CHUNK; done === CHUNK; budget.chunks -= 1) {
      if (budget.chunks === 0) return false;
      done = (await read(ctx, z.int(), statement)) ?? 0;
    }
  }
  const [first, ...others] = referringFirst
    .flatMap(({ rest }) => rest ?? [])
    .map((statement) => ctx.db.execute(statement));
  if (first !== undefined) await ctx.db.batch([first, ...others]);
  return true;
}
