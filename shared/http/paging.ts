import * as z from "zod";
import { COUNTED, PAGED_THROUGH, placeOf } from "../db/listing.ts";
import { Problem } from "../platform/problem.ts";

/** The parameters `page` and `page_size` of every list. */
export const pageQuery = z.object({
  page: z.coerce.number().int().min(1).max(1_000_000_000).default(1).meta({ description: "1-based page number" }),
  page_size: z.coerce.number().int().min(1).max(100).default(20).meta({ description: "Items per page" }),
});

/** The parameter `q` of a list whose items have names. */
export const nameSearch = z.string().trim().min(1).max(100).optional().meta({
  description:
    "Part of a name, in any case. One without three letters a to z or digits in a row finds the names that begin with it",
});

/** What a list was asked for. */
export type PageQuery = z.output<typeof pageQuery>;

/** One page of a list, and how many items the list has; `total_is_capped` where it has more than were counted. */
export interface Page<T> {
  items: T[];
  total: number;
  total_is_capped?: true | null | undefined;
}

/** The schema of a paginated answer; `name` names it in the OpenAPI document. */
export function pageOf<T extends z.ZodType>(item: T, name: string) {
  return z
    .object({
      items: z.array(item),
      total: z.int(),
      page: z.int(),
      page_size: z.int(),
    })
    .meta({ id: name });
}

/** The schema of a page of a list that may be too long to count to its end: `pageOf` with `total_is_capped`. */
export function longPageOf<T extends z.ZodType>(item: T, name: string) {
  return pageOf(item, name)
    .extend({
      total: z.int().meta({ description: `At most ${COUNTED.byIndex}: long lists are not counted to their end` }),
      total_is_capped: z
        .literal(true)
        .optional()
        .meta({
          description:
            "There are more items than `total`, on pages that follow as long as `Link` names a next one, to the " +
            `${PAGED_THROUGH}th item: a page beyond that is 422`,
        }),
    })
    .meta({ id: name });
}

/** The answer's body for one page. Throws 422 for one of a long list that is too far from its beginning to be found. */
export function paged<T>({ items, total, total_is_capped }: Page<T>, { page, page_size }: PageQuery) {
  if (total_is_capped === true && placeOf({ page, page_size }).isTooFar) throw tooFar();
  return { items, total, ...(total_is_capped === true ? { total_is_capped } : {}), page, page_size };
}

function tooFar(): Problem {
  const message = `A long list has pages to its ${PAGED_THROUGH}th item; narrow it by its parameters, or read it on by \`cursor\` where it takes one.`;
  return new Problem("validation_failed", message, {
    errors: [{ in: "query", pointer: "/page", code: "too_big", message }],
  });
}
