import type { SQL } from "drizzle-orm";
import * as z from "zod";
import type { Context } from "../platform/context.ts";
import { read } from "./change.ts";
import { type PageAsked, placeOf, type Stretch } from "./listing.ts";

/**
 * How `readPage` parses one page of a list: its items, and how many items the whole list has. `total_is_capped` is true
 * where it has more than were counted, `is_cut` where the page has more than were told at once.
 */
export function pageResult<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    total: z.int(),
    total_is_capped: z.literal(true).nullish(),
    is_cut: z.boolean().optional(),
  });
}

/**
 * A page whose items the schema of the answer is yet to parse, where that is all they are read for: each row of a long
 * page is then parsed once.
 */
export const RowPage = pageResult(z.unknown());
/** How `read` parses a slice of a list: its items as in `RowPage`, whether it goes on, and the keys of the last item. */
export const RowSlice = z.object({ items: z.array(z.unknown()), more: z.boolean(), last: z.unknown() });
export type RowSlice = z.output<typeof RowSlice>;
export type RowPage = z.output<typeof RowPage>;

/**
 * A page of a list, whole whatever its items hold; null where `statement` selects no row. It composes a statement that reads
 * a stretch of the list by `pageJson`: one round trip, and more only for items that together are too large for one answer.
 * What changes between these may be told twice or left out, as between pages.
 */
export async function readPage<Result extends z.ZodType<{ items: unknown[]; is_cut?: boolean | undefined }>>(
  ctx: Context,
  result: Result,
  asked: PageAsked,
  statement: (stretch: Stretch) => SQL,
): Promise<z.output<Result> | null> {
  const whole = placeOf(asked);
  const page = await read(ctx, result, statement(whole));
  if (page === null) return null;
  const { items } = page;
  let told = items.length;
  let goesOn = page.is_cut === true;
  while (goesOn && items.length < whole.size) {
    // The database puts together all that it is asked for, to tell a part of it: not many times what it told last.
    const size = Math.min(whole.size - items.length, 2 * told);
    const next = await read(ctx, result, statement({ ...whole, offset: whole.offset + items.length, size }));
    told = next?.items.length ?? 0;
    goesOn = next?.is_cut === true || told === size;
    items.push(...(next?.items ?? []));
  }
  return page;
}
