import * as z from "zod";

/**
 * How `read` parses one page of a list: its items, and how many items the whole list has. `total_is_capped` is true
 * where it has more than were counted.
 */
export function pageResult<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), total: z.int(), total_is_capped: z.literal(true).nullish() });
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
