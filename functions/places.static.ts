import { GROUPS } from "./groups.ts";
import { PAGES } from "./pages.ts";
import { methodsOf } from "./site/parts/view.ts";

/** Where each endpoint is declared: all that is known of it before its group is loaded. */
export const PLACES = (
  await Promise.all(
    Object.entries(GROUPS).map(async ([group, load]) =>
      (await load()).map(({ method, path }) => ({ group, method, path })),
    ),
  )
).flat();

/** Where each page for people is declared. */
export const PAGE_PLACES = (
  await Promise.all(
    Object.entries(PAGES).map(async ([group, load]) =>
      (await load()).flatMap((page) => methodsOf(page).map((method) => ({ group, method, path: page.path }))),
    ),
  )
).flat();
