import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import type { FirstRow } from "../db/narrowing.ts";
import { certifications } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";

/** A certification and its end: the place of one among all, which are worked through by their ends. */
const Place = z.object({ at: z.iso.datetime({ offset: true }), id: z.uuid() });

/** What a piece of work through certifications did: of how many, and which was the last. */
export const Done = z.object({ count: z.int(), last: Place.nullable() });

/** SQL: what a piece did that worked on `source`, a part of the statement with the columns `id` and `expires_at`. */
export function doneOf(source: string): SQL {
  const rows = sql.identifier(source);
  return sql`select jsonb_build_object('count', (select count(*) from ${rows}), 'last', (
    select jsonb_build_object('at', expires_at, 'id', id) from ${rows} order by expires_at desc, id desc limit 1)) as result`;
}

/** The cursor of the piece after one that did this, of at most `size`; null where no other follows. */
export function cursorAfter(done: z.output<typeof Done> | null, size: number): string | null {
  return done?.count === size ? JSON.stringify(done.last) : null;
}

/** SQL: whether the certification `c` comes after the one that `cursor` names. */
export function isBehind(cursor: string | null): SQL {
  if (cursor === null) return sql`true`;
  const { at, id } = Place.parse(JSON.parse(cursor));
  return sql`(c.expires_at, c.id) > (${at}::timestamptz, ${id}::uuid)`;
}

/** The first certification `c` of those for which the condition holds. */
export async function firstByEnd(ctx: Context, condition: SQL): Promise<FirstRow | null> {
  const place = await read(
    ctx,
    Place,
    sql`select jsonb_build_object('at', c.expires_at, 'id', c.id) as result from ${certifications} c
      where ${condition} order by c.expires_at, c.id limit 1`,
  );
  return place === null ? null : { cursor: JSON.stringify(place), named: { certification_id: place.id } };
}
