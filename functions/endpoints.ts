import type { Endpoint } from "../shared/http/route.ts";
import { GROUPS } from "./groups.ts";
import { PAGES } from "./pages.ts";
import { PAGE_PLACES, PLACES } from "./places.static.ts";

/** Every endpoint of the interface, each loaded when it is first asked for. */
const INTERFACE: readonly Endpoint[] = PLACES.map(({ group, method, path }) => ({
  method,
  path,
  async load() {
    const routes = await GROUPS[group]?.();
    const route = routes?.find((one) => one.method === method && one.path === path);
    if (route === undefined) throw new Error(`${group} has no ${method} ${path}`);
    return route;
  },
}));

/** Every page for people, loaded in the same way. */
const SITE: readonly Endpoint[] = PAGE_PLACES.map(({ group, method, path }) => ({
  method,
  path,
  async load() {
    const [{ routeOf }, pages] = await Promise.all([import("./site/parts/view.ts"), PAGES[group]?.()]);
    const page = pages?.find((one) => one.path === path);
    if (page === undefined) throw new Error(`${group} has no page ${path}`);
    return routeOf(page, method);
  },
}));

/** Everything that the service answers at. */
export const ENDPOINTS: readonly Endpoint[] = [...INTERFACE, ...SITE];
