import { namesFirst } from "../shared/http/order.ts";
import { GROUPS } from "./groups.ts";
import { PAGES } from "./pages.ts";
import { methodsOf } from "./site/parts/view.ts";

/** In the order in which they are served, so that a start has next to nothing to sort. */
const inOrder = <Place extends { path: string }>(places: Place[][]): Place[] => namesFirst(places.flat());

/** Where each endpoint is declared: all that is known of it before its group is loaded. */
export const PLACES = inOrder(
  await Promise.all(
    Object.entries(GROUPS).map(async ([group, load]) =>
      (await load()).map(({ method, path }) => ({ group, method, path })),
    ),
  ),
);

/** Where each page for people is declared. */
export const PAGE_PLACES = inOrder(
  await Promise.all(
    Object.entries(PAGES).map(async ([group, load]) =>
      (await load()).flatMap((page) => methodsOf(page).map((method) => ({ group, method, path: page.path }))),
    ),
  ),
);
