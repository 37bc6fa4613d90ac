import * as z from "zod";

/** How `read` parses one page of a list: its items, and how many items the whole list has. */
export function pageResult<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), total: z.int() });
}
