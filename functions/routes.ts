import type { Route } from "../shared/http/route.ts";
import { GROUPS } from "./groups.ts";

/**
 * Every endpoint there is. Importing this loads all of them, so it is for what is evaluated when the service is built,
 * and for tests. A running Worker uses `ENDPOINTS`.
 */
export const ROUTES: readonly Route[] = (await Promise.all(Object.values(GROUPS).map((load) => load()))).flat();
