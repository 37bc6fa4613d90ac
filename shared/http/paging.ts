import * as z from "zod";

/** The parameters `page` and `page_size` of every list. */
export const pageQuery = z.object({
  page: z.coerce.number().int().min(1).max(1_000_000_000).default(1).meta({ description: "1-based page number" }),
  page_size: z.coerce.number().int().min(1).max(100).default(20).meta({ description: "Items per page" }),
});

/** What a list was asked for. */
export type PageQuery = z.output<typeof pageQuery>;

/** One page of a list, and how many items the list has. */
export interface Page<T> {
  items: T[];
  total: number;
}

/** The schema of a paginated answer; `name` names it in the OpenAPI document. */
export function pageOf<T extends z.ZodType>(item: T, name: string) {
  return z
    .object({
      items: z.array(item),
      total: z.number().int(),
      page: z.number().int(),
      page_size: z.number().int(),
    })
    .meta({ id: name });
}

/** The answer's body for one page. */
export function paged<T>(page: Page<T>, query: PageQuery) {
  return { items: page.items, total: page.total, page: query.page, page_size: query.page_size };
}

/** The paging members of an answer's body; null if the body is not a page of a list. */
export function pageShown(body: unknown): (PageQuery & { total: number }) | null {
  if (typeof body !== "object" || body === null) return null;
  if (!("total" in body && "page" in body && "page_size" in body)) return null;
  const { total, page, page_size } = body;
  if (typeof total !== "number" || typeof page !== "number" || typeof page_size !== "number") return null;
  return { total, page, page_size };
}

/** The RFC 8288 `Link` header of a page of the list at `url`: first, prev, next and last, each with the whole query. */
export function linkHeader(
  url: URL,
  query: readonly (readonly [name: string, value: unknown])[],
  { total, page, page_size }: PageQuery & { total: number },
): string {
  const last = Math.max(1, Math.ceil(total / page_size));
  const link = (number: number, rel: string): string => {
    const target = new URL(url);
    for (const [name, value] of query) target.searchParams.set(name, String(value));
    target.searchParams.set("page", String(number));
    target.searchParams.set("page_size", String(page_size));
    target.searchParams.sort();
    return `<${target.href}>; rel="${rel}"`;
  };
  const links = [link(1, "first")];
  if (page > 1) links.push(link(Math.min(page - 1, last), "prev"));
  if (page < last) links.push(link(page + 1, "next"));
  links.push(link(last, "last"));
  return links.join(", ");
}
