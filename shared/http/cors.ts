import type { MiddlewareHandler } from "hono";
import type { Context } from "../platform/context.ts";
import { isTrustedOrigin } from "./credentials.ts";

const METHODS = "GET, POST, PATCH, DELETE";
const EXPOSED = "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, Idempotency-Replayed";

/** CORS: the service's own and the listed origins may send credentials; every other origin may read without them. */
export function cors(): MiddlewareHandler<{ Variables: { ctx: Context } }> {
  return async (c, next) => {
    const origin = c.req.header("origin");
    const preflight = c.req.method === "OPTIONS" && c.req.header("access-control-request-method") !== undefined;
    const trusted = origin !== undefined && isTrustedOrigin(c.get("ctx"), origin);
    if (preflight) c.res = new Response(null, { status: 204 });
    else await next();
    const { headers } = c.res;
    if (headers.get("Vary")?.includes("Origin") !== true) headers.append("Vary", "Origin");
    if (origin === undefined) return;
    if (trusted) {
      headers.set("Access-Control-Allow-Origin", origin);
      headers.set("Access-Control-Allow-Credentials", "true");
    } else if (c.req.method === "GET" || c.req.method === "HEAD" || preflight) {
      headers.set("Access-Control-Allow-Origin", "*");
    }
    headers.set("Access-Control-Expose-Headers", EXPOSED);
    if (preflight) {
      headers.set("Access-Control-Allow-Methods", trusted ? METHODS : "GET");
      headers.set("Access-Control-Allow-Headers", c.req.header("access-control-request-headers") ?? "");
      headers.set("Access-Control-Max-Age", "86400");
    }
  };
}
