import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../../db/change.ts";
import { type Chunk, type Closing, Place } from "../../db/closing.ts";
import type { Context } from "../../platform/context.ts";

/** Where the removal of a closed account goes on: at which chunk, from which place, and what it has done since it began. */
export const Stop = z.object({ chunk: z.int(), place: Place.nullable(), done: z.int() });
export type Stop = z.output<typeof Stop>;

/** The beginning of a removal. */
export const START: Stop = { chunk: 0, place: null, done: 0 };

const Sent = z.object({ done: z.int(), place: Place.nullable() });

/** The chunks of all domains, in the order in which they are gone through: what refers to others is deleted first. */
export function chunksOf(closings: readonly Closing[]): readonly Chunk[] {
  return [
    ...closings.flatMap(({ ending }) => ending ?? []),
    ...closings.toReversed().flatMap(({ chunks }) => chunks ?? []),
  ];
}

/**
 * Removes what a closed account leaves, from `from` on: each domain ends, deletes or strips its rows chunk by chunk, from
 * place to place, and then what remains. Returns where to go on once `most` statements are sent, or null when all is done.
 * What took several calls is gone through once more, for what has come in meanwhile, until nothing was left to do.
 */
export async function removeContent(
  ctx: Context,
  closings: readonly Closing[],
  from: Stop,
  most: number,
): Promise<Stop | null> {
  let { place, done } = from;
  let sent = 0;
  for (const [index, chunk] of chunksOf(closings).entries()) {
    if (index < from.chunk) continue;
    do {
      if (sent === most) return { chunk: index, place, done };
      const statement = sql`${chunk(place)} select jsonb_build_object('done', (select count(*) from done),
        'place', (select place from place)) as result`;
      const result = Sent.parse(await read(ctx, Sent, statement));
      done += result.done;
      place = result.place;
      sent += 1;
    } while (place !== null);
  }
  if (from !== START && done > 0) return START;
  const [first, ...others] = closings
    .toReversed()
    .flatMap(({ rest }) => rest ?? [])
    .map((statement) => ctx.db.execute(statement));
  if (first !== undefined) await ctx.db.batch([first, ...others]);
  return null;
}
