import type { PageQuery } from "./paging.ts";

/** What a `Link` header is made of. */
interface Shown extends PageQuery {
  total: number;
  isCapped: boolean;
  /** Whether the page has as many items as it may have. */
  isFull: boolean;
}

/** The paging members of an answer's body; null if the body is not a page of a list. */
export function pageShown(body: unknown): Shown | null {
  if (typeof body !== "object" || body === null) return null;
  if (!("items" in body && "total" in body && "page" in body && "page_size" in body)) return null;
  const { items, total, page, page_size } = body;
  if (typeof total !== "number" || typeof page !== "number" || typeof page_size !== "number") return null;
  const isFull = Array.isArray(items) && items.length === page_size;
  return { total, page, page_size, isCapped: "total_is_capped" in body && body.total_is_capped === true, isFull };
}

/**
 * The RFC 8288 `Link` header of a page of the list at `url`: first, prev, next and last, each with the whole query. The
 * last page of a list that was not counted to its end is not known; a next one is named after each full page.
 */
export function linkHeader(
  url: URL,
  query: readonly (readonly [name: string, value: unknown])[],
  { total, page, page_size, isCapped, isFull }: Shown,
): string {
  const last = isCapped ? null : Math.max(1, Math.ceil(total / page_size));
  const link = (number: number, rel: string): string => {
    const target = new URL(url);
    for (const [name, value] of query) target.searchParams.set(name, String(value));
    target.searchParams.set("page", String(number));
    target.searchParams.set("page_size", String(page_size));
    target.searchParams.sort();
    return `<${target.href}>; rel="${rel}"`;
  };
  const links = [link(1, "first")];
  if (page > 1) links.push(link(Math.min(page - 1, last ?? page), "prev"));
  if (last === null ? isFull : page < last) links.push(link(page + 1, "next"));
  if (last !== null) links.push(link(last, "last"));
  return links.join(", ");
}
