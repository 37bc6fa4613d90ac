import { GROUPS } from "./groups.ts";

/** Where each endpoint is declared: all that is known of it before its group is loaded. */
export const PLACES = (
  await Promise.all(
    Object.entries(GROUPS).map(async ([group, load]) =>
      (await load()).map(({ method, path }) => ({ group, method, path })),
    ),
  )
).flat();
