import type { Context as HonoContext } from "hono";
import type { Principal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import type { Standing } from "./limits.ts";

/** What Hono carries along while a request is under way. */
export interface HttpEnv {
  Variables: {
    ctx: Context;
    principal: Principal;
    /** The stores' word on a caller that was let in on its own credential, while they are still being asked. */
    confirmed: Promise<Principal> | null;
    standing: Standing | null;
    /** The validated parameters of the path and of the query; empty where the route declares none. */
    params: Record<string, unknown>;
    query: Record<string, unknown>;
    /** The validated body; undefined where the route declares none. */
    body: unknown;
    /** Throws where the caller has no right to the thing that the path names; null where nothing is to be judged. */
    judge: (() => Promise<unknown>) | null;
  };
}

/** Hono's context of a request to the service. */
export type HttpContext = HonoContext<HttpEnv>;
