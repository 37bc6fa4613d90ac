import type { Context as HonoContext } from "hono";
import type { Principal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import type { Problem } from "../platform/problem.ts";
import type { Standing } from "./limits.ts";

/** What Hono carries along with a request. */
export interface HttpEnv {
  Variables: {
    ctx: Context;
    principal: Principal;
    /** Confirms the caller, as `Admission` does; null where the caller is confirmed already. */
    confirm: (() => Promise<Principal>) | null;
    standing: Standing | null;
    /** The validated parameters of the path and of the query; empty where the route declares none. */
    params: Record<string, unknown>;
    query: Record<string, unknown>;
    /** The validated body; undefined where the route declares none. */
    body: unknown;
    /**
     * Throws where the caller has no right to the thing that the path names; else what the request is refused for is noted.
     * Null where the route has no such check.
     */
    assertRight: ((refused: Problem) => Promise<unknown>) | null;
    /** Whether the answer is made whole, to be kept for others, whatever version of it the caller has. */
    whole: boolean;
    /** The service itself: answers another request in this process. */
    own: (request: Request) => Promise<Response>;
  };
}

/** Hono's context of a request to the service. */
export type HttpContext = HonoContext<HttpEnv>;
