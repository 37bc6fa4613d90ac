import * as z from "zod";

/**
 * A page of a list as a statement gives it: for an answer whose own schema parses the items, so that each row is parsed
 * once however long the page is.
 */
export const RowPage = z.object({ items: z.array(z.unknown()), total: z.number() });
export type RowPage = z.output<typeof RowPage>;
