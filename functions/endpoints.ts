import type { Endpoint } from "../shared/http/route.ts";
import { GROUPS } from "./groups.ts";
import { PLACES } from "./places.static.ts";

/** Every endpoint there is, each loaded when it is first asked for. */
export const ENDPOINTS: readonly Endpoint[] = PLACES.map(({ group, method, path }) => ({
  method,
  path,
  async load() {
    const routes = await GROUPS[group]?.();
    const route = routes?.find((one) => one.method === method && one.path === path);
    if (route === undefined) throw new Error(`${group} has no ${method} ${path}`);
    return route;
  },
}));
