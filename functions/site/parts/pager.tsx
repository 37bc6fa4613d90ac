/** The number of the page that is asked for by this name; the first where it is none. */
export function pageIn(query: URLSearchParams, name = "page"): number {
  const asked = Number(query.get(name) ?? 1);
  return Number.isSafeInteger(asked) && asked > 0 && asked <= 1_000_000_000 ? asked : 1;
}

/** The ways from one page of a list to those beside it; nothing where there is no other. */
export function Pager({ page, last, href }: { page: number; last: number; href: (page: number) => string }) {
  if (last <= 1 && page === 1) return null;
  return (
    <nav aria-label="Pages">
      <ul>
        {page > 1 && (
          <li>
            <a href={href(Math.min(page - 1, last))}>previous</a>
          </li>
        )}
        {page < last && (
          <li>
            <a href={href(page + 1)}>next</a>
          </li>
        )}
      </ul>
    </nav>
  );
}
