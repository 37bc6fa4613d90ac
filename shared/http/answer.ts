import type { Context as HonoContext, MiddlewareHandler } from "hono";
import { getCookie } from "hono/cookie";
import { sha256 } from "../platform/crypto.ts";
import type { AnswerCache, KeptAnswer } from "./cache.ts";
import { SESSION_COOKIE } from "./cookie-names.ts";
import { leaseOf, passed, policyOf, standingFar } from "./limits.ts";
import { linkHeader, pageShown } from "./page-links.ts";
import { canonicalKey, canonicalQuery } from "./parameters.ts";
import type { Reply } from "./reply.ts";
import type { CacheTag, Route } from "./route.ts";
import type { HttpContext, HttpEnv } from "./variables.ts";

/**
 * Turns a reply into the answer: JSON filtered by the declared schema, or text as it is, with `Link`, `ETag` and caching
 * headers; 304 where the caller has it already, unless it is wanted whole. Throws for a status that the route does not declare.
 */
export function render(route: Route, c: HttpContext, { status, body, headers, verbatim }: Reply): Response {
  const content = route.returns[status];
  if (content === undefined) throw new Error(`${route.id} does not declare status ${status}`);
  if (content === null) return c.newResponse(null, { status, headers });
  const parses = verbatim === undefined && "parse" in content;
  const [type, shown]: [string, unknown] = [
    "parse" in content ? "application/json" : content.type,
    parses ? content.parse(body) : body,
  ];
  const text = verbatim === true ? String(body) : JSON.stringify(shown);
  const response = c.newResponse(text, { status, headers: { "Content-Type": type, ...headers } });
  const list = pageShown(shown);
  if (list !== null) {
    const target = new URL(new URL(c.req.url).pathname, c.get("ctx").env.BASE_URL);
    response.headers.set("Link", linkHeader(target, canonicalQuery(route, c), list));
  }
  if (route.method !== "get" || status !== 200) {
    if (!response.headers.has("Cache-Control")) response.headers.set("Cache-Control", "no-store");
    return response;
  }
  if (!response.headers.has("Cache-Control")) {
    const open = c.get("principal").kind === "anonymous" && route.auth === "open";
    response.headers.set("Cache-Control", open ? "no-cache" : "private, no-store");
    response.headers.append("Vary", "Authorization, Cookie, X-API-Key");
  }
  const etag = `W/"${sha256(text).slice(0, 32)}"`;
  response.headers.set("ETag", etag);
  return conditional(c, response, etag);
}

/**
 * The answer, or 304 where the caller already has the version that this weak ETag names (RFC 9110 section 8.8.3) and it is
 * not wanted whole.
 */
export function conditional(c: Pick<HonoContext, "req" | "get">, response: Response, etag: string): Response {
  const known = c.req.header("if-none-match");
  if (known === undefined || c.get("whole") === true) return response;
  const matches =
    known.trim() === "*" || known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag.slice(2));
  if (!matches) return response;
  const headers = new Headers(response.headers);
  headers.delete("Content-Type");
  return new Response(null, { status: 304, headers });
}

/**
 * Answers callers without credentials from the isolate's cache, and keeps answers there unless they say `no-store`. It
 * runs after validation, because the key is made of the validated parameters: each spelling of a request finds the answer.
 * Of many that ask for what is not there, one makes it, and makes it whole, whatever version of it its caller has.
 */
export function cached(cache: AnswerCache, route: Route, tag: CacheTag): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    if (c.get("principal").kind !== "anonymous") return next();
    // Whose session is over may see more than a stranger once it is taken up again: that is for the page to say.
    if (route.auth === "visitor" && getCookie(c, SESSION_COOKIE) !== undefined) return next();
    const { now } = c.get("ctx");
    const key = canonicalKey(route, c);
    const find = (): KeptAnswer | null => cache.get(key, c.req.url, now().getTime());
    const flightOf = (generation: number): string => `${generation} ${key}`;
    let kept = find();
    const landing = kept === null ? cache.flights.landing(flightOf(cache.generation(tag))) : null;
    if (landing !== null) {
      await landing;
      kept = find();
    }
    const at = now().getTime();
    if (kept !== null) {
      await unlessFarFromLimit(c, route, at);
      return conditional(c, new Response(kept.body, { headers: kept.headers }), kept.etag);
    }
    const generation = cache.generation(tag);
    const land = cache.flights.begin(flightOf(generation));
    try {
      c.set("whole", true);
      await next();
      const answer = await keepable(c);
      if (answer !== null) cache.put(key, c.req.url, at, { ...answer, tag, generation });
    } finally {
      land();
    }
    c.set("whole", false);
    const etag = c.res.headers.get("ETag");
    const shown = c.res.status === 200 && etag !== null ? conditional(c, c.res, etag) : c.res;
    if (shown !== c.res) c.res = shown;
    return undefined;
  };
}

/** The answer of a request as it is kept for others; null for one that is not to be. */
async function keepable(c: HttpContext): Promise<Omit<KeptAnswer, "tag" | "generation"> | null> {
  if (c.res.status !== 200 || c.res.headers.get("Cache-Control") === "no-store") return null;
  const body = new Uint8Array(await c.res.clone().arrayBuffer());
  const headers = new Headers(c.res.headers);
  setCommonHeaders(headers, c.get("ctx").env.BASE_URL);
  headers.append("Vary", "Origin");
  const plain = new Headers(headers);
  plain.set("RateLimit-Policy", policyOf("read"));
  return { body, headers, plain, etag: headers.get("ETag") ?? "" };
}

/** Waits until the caller is counted, unless it is far from its limit: then that goes on after the answer. */
async function unlessFarFromLimit(c: HttpContext, route: Route, now: number): Promise<void> {
  const { ctx, confirm } = c.var;
  if (confirm === null) return;
  const confirmed = confirm();
  const lease = leaseOf(ctx.leases, "read", ctx.addressHash ?? "unknown");
  const window = route.limit === undefined ? standingFar(lease, "read", now) : null;
  if (window === null) return void (await confirmed);
  c.set("standing", c.get("standing") ?? passed(window));
  // Whoever is refused now is told so at the next request.
  ctx.defer(() => confirmed.catch(() => undefined));
}

/** Sets the headers that every answer carries. */
export function setCommonHeaders(headers: Headers, baseUrl: string): void {
  headers.set("X-Content-Type-Options", "nosniff");
  if (!headers.has("Referrer-Policy")) headers.set("Referrer-Policy", "no-referrer");
  if (!headers.has("Content-Security-Policy")) {
    headers.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  }
  if (baseUrl.startsWith("https:")) headers.set("Strict-Transport-Security", "max-age=31536000");
}
