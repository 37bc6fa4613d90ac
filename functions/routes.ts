import type { Route } from "../shared/http/route.ts";
import { GROUPS } from "./groups.ts";

/**
 * Every endpoint there is. Importing this loads all of them: it is for what is made when the service is built, and for
 * tests. What runs in a Worker goes by `ENDPOINTS`.
 */
export const ROUTES: readonly Route[] = (await Promise.all(Object.values(GROUPS).map((load) => load()))).flat();
