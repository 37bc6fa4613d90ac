import { zValidator } from "@hono/zod-validator";
import { Hono, type Context as HonoContext, type MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import type { StatusCode } from "hono/utils/http-status";
import type * as z from "zod";
import { describeError } from "../db/client.ts";
import { assertAdmin } from "../identity/admin.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { sha256 } from "../platform/crypto.ts";
import { requestId } from "../platform/ids.ts";
import { Problem } from "../platform/problem.ts";
import { addressHash } from "./address.ts";
import type { AnswerCache } from "./cache.ts";
import { cors } from "./cors.ts";
import { admit } from "./credentials.ts";
import { idempotencyOf } from "./idempotency.ts";
import { assertWithin, countAddress, limitHeaders, type Standing } from "./limits.ts";
import { linkHeader } from "./paging.ts";
import { problemResponse, toProblem } from "./problems.ts";
import type { Reply } from "./reply.ts";
import type { Route } from "./route.ts";
import { findingsProblem, unstorable, validationProblem } from "./validation.ts";

/** What the service hands to each request. */
export interface Service {
  context(request: Pick<Context, "requestId" | "addressHash" | "defer">): Context;
  cache: AnswerCache;
}

/** Hono's variables while a request is under way. */
interface Variables {
  ctx: Context;
  principal: Principal;
  /** The stores' word on a caller that was let in on its own credential, while they are still being asked. */
  confirmed: Promise<Principal> | null;
  standing: Standing | null;
}

type Env = { Variables: Variables };
type C = HonoContext<Env>;

const MAX_BODY_BYTES = 1024 * 1024;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** The Hono app for these routes: every request goes request id, limits and credentials, validation, handler. */
export function createApp(service: Service, routes: readonly Route[]): Hono<Env> {
  const app = new Hono<Env>();
  app.use(begin(service), cors());
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.on(route.method.toUpperCase(), [path], ...pipeline(service, route));
  }
  app.notFound((c) => {
    const allowed = methodsAt(routes, c.req.path);
    throw allowed.length === 0
      ? new Problem("not_found", "There is nothing at this path; /docs lists what there is.")
      : new Problem("method_not_allowed", `Here one of ${allowed.join(", ")} is allowed.`, {
          headers: { Allow: allowed.join(", ") },
        });
  });
  app.onError(async (error, c) => {
    // A refusal by the stores counts before whatever else is wrong with the request.
    const refused = await c.get("confirmed")?.then(
      () => null,
      (refusal: Error) => refusal,
    );
    return fail(refused ?? error, c);
  });
  return app;
}

function begin(service: Service): MiddlewareHandler<Env> {
  return async (c, next) => {
    const id = requestId(c.req.header("x-request-id"), new Date());
    const ctx = service.context({
      requestId: id,
      addressHash: addressHash(c.req.header("cf-connecting-ip")),
      defer: (work) => c.executionCtx.waitUntil(work()),
    });
    c.set("ctx", ctx);
    c.set("standing", null);
    c.set("confirmed", null);
    await next();
    const { headers } = c.res;
    headers.set("X-Request-Id", id);
    headers.set("X-Content-Type-Options", "nosniff");
    headers.set("Referrer-Policy", "no-referrer");
    if (!headers.has("Content-Security-Policy")) {
      headers.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    }
    if (ctx.env.BASE_URL.startsWith("https:")) headers.set("Strict-Transport-Security", "max-age=31536000");
    const standing = c.get("standing");
    if (standing !== null) {
      for (const [name, value] of Object.entries(limitHeaders(standing))) headers.set(name, value);
    }
  };
}

function fail(error: Error, c: C): Response {
  const ctx = c.get("ctx");
  const problem = error instanceof HTTPException ? fromHono(error) : toProblem(error);
  if (problem.status >= 500) {
    ctx.log.error("request failed", { path: c.req.routePath, code: problem.code, detail: describeError(error) });
  }
  const response = problemResponse(problem, ctx.requestId);
  // Through the context, so that cookies cleared before the throw reach the caller.
  return c.newResponse(response.body, response);
}

function fromHono(error: HTTPException): Problem {
  if (error.status === 413) return new Problem("payload_too_large", "The body is larger than 1 MiB.");
  if (error.status === 400)
    return new Problem("malformed_json", "The body can't be parsed as JSON; check quotes and commas.");
  return toProblem(error);
}

function methodsAt(routes: readonly Route[], path: string): string[] {
  const found = routes
    .filter((route) => new RegExp(`^${route.path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path))
    .map((route) => route.method.toUpperCase());
  return [...new Set(found)].flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]));
}

function pipeline(service: Service, route: Route): MiddlewareHandler<Env>[] {
  const steps: MiddlewareHandler<Env>[] = [identify(route)];
  const check = (target: "param" | "query" | "json", where: "path" | "query" | "body", schema: z.ZodType) =>
    zValidator(target, schema, (result) => {
      if (!result.success) throw validationProblem(where, result.error);
      const findings = unstorable(where, result.data);
      if (findings.length > 0) throw findingsProblem(findings);
    }) as MiddlewareHandler<Env>;
  if (route.params !== undefined) steps.push(check("param", "path", route.params));
  if (route.query !== undefined) steps.push(check("query", "query", route.query));
  if (route.body !== undefined) {
    steps.push(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge }) as MiddlewareHandler<Env>, requireJson);
    steps.push(check("json", "body", route.body));
  }
  const answer = (c: C) => handle(route, c);
  steps.push((c) => (route.cache === undefined ? answer(c) : cached(service.cache, route.cache, c, answer)));
  return steps;
}

function tooLarge(): never {
  throw new Problem("payload_too_large", "The body is larger than 1 MiB; send less in one request.");
}

const requireJson: MiddlewareHandler = async (c, next) => {
  const type = c.req.header("content-type");
  if (type === undefined || !JSON_TYPE.test(type)) {
    throw new Problem("unsupported_media_type", "Send the body as JSON, with Content-Type: application/json.");
  }
  await next();
};

function identify(route: Route): MiddlewareHandler<Env> {
  const limit = route.limit === undefined ? (route.method === "get" ? "read" : "write") : route.limit;
  return async (c, next) => {
    const ctx = c.get("ctx");
    c.set("principal", { kind: "anonymous" });
    if (limit !== null) {
      if (route.auth === "none") {
        const standing = await countAddress(ctx, limit);
        c.set("standing", standing);
        if (standing !== null) assertWithin(standing);
      } else {
        const credentials = { limit, cookieFirst: route.cookieFirst ?? false, ownTokens: route.ownTokens ?? false };
        const { claimed, confirmed } = await admit(ctx, c, credentials, (standing) => c.set("standing", standing));
        if (route.method === "get" && claimed !== null) {
          // A read changes nothing: it starts while Redis is asked, and its answer waits for what Redis says.
          confirmed.catch(() => undefined);
          c.set("confirmed", confirmed);
          c.set("principal", claimed);
        } else {
          c.set("principal", await confirmed);
        }
      }
    }
    await authorise(ctx, route, c.get("principal"));
    await next();
  };
}

async function authorise(ctx: Context, { auth }: Route, principal: Principal): Promise<void> {
  if (auth === "none" || auth === "open") return;
  if (principal.kind === "anonymous") {
    throw new Problem("unauthenticated", "Sign in, or send an API key as X-API-Key where one is allowed.", {
      headers: { "WWW-Authenticate": "Bearer" },
    });
  }
  if (principal.kind === "key") {
    if (auth === "session" || auth === "admin") {
      throw new Problem("session_required", "This endpoint takes no API keys; sign in and use the session.");
    }
    if (auth === "write" && principal.scope === "read") {
      throw new Problem("insufficient_scope", "This API key may only read; take one with the scope write.");
    }
  }
  if (auth === "admin") await assertAdmin(ctx, principal.userId);
}

/** Runs the handler beside the confirmation of its caller; a caller who turns out to be another is served as that one. */
async function handle(route: Route, c: C): Promise<Response> {
  const confirmed = c.get("confirmed");
  if (confirmed === null) return invoke(route, c);
  const [confirmation, work] = await Promise.allSettled([confirmed, invoke(route, c)]);
  if (confirmation.status === "rejected") throw confirmation.reason;
  if (confirmation.value.kind !== c.get("principal").kind) {
    c.set("principal", confirmation.value);
    await authorise(c.get("ctx"), route, confirmation.value);
    return invoke(route, c);
  }
  if (work.status === "rejected") throw work.reason;
  return work.value;
}

async function invoke(route: Route, c: C): Promise<Response> {
  const ctx = c.get("ctx");
  const valid = (target: "param" | "query" | "json"): never => c.req.valid(target as never);
  const body: unknown = route.body === undefined ? undefined : valid("json");
  if (route.idempotent === true) {
    const caller = viewerId(c.get("principal")) ?? `address:${ctx.addressHash}`;
    ctx.idempotency = idempotencyOf(c, caller, body);
  }
  const result = await route.handler({
    ctx,
    principal: c.get("principal") as never,
    params: route.params === undefined ? undefined : valid("param"),
    query: route.query === undefined ? undefined : valid("query"),
    body,
    c,
  } as unknown as Parameters<Route["handler"]>[0]);
  const response = result instanceof Response ? result : render(route, c, result);
  if (ctx.idempotency?.replayed === true) response.headers.set("Idempotency-Replayed", "true");
  return response;
}

function render(route: Route, c: C, { status, body, headers }: Reply): Response {
  const schema = route.returns[status];
  if (schema === undefined) throw new Error(`${route.id} does not declare status ${status}`);
  if (schema === null || !("parse" in schema)) return c.newResponse(null, { status: status as StatusCode, headers });
  const shown: unknown = schema.parse(body);
  const text = JSON.stringify(shown);
  const response = c.newResponse(text, {
    status: status as StatusCode,
    headers: { "Content-Type": "application/json", ...headers },
  });
  const { total, page, page_size } = (shown ?? {}) as { total?: number; page?: number; page_size?: number };
  if (total !== undefined && page !== undefined && page_size !== undefined) {
    const url = new URL(c.req.url);
    response.headers.set("Link", linkHeader(url, c.get("ctx").env.BASE_URL, total, { page, page_size }));
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
  return conditional(c, response, text);
}

/** Adds a weak ETag (RFC 9110 section 8.8.3) and answers 304 where the caller has this very text. */
function conditional(c: C, response: Response, text: string): Response {
  const etag = `W/"${sha256(text).slice(0, 32)}"`;
  response.headers.set("ETag", etag);
  const known = c.req.header("if-none-match");
  if (known === undefined) return response;
  const matches =
    known.trim() === "*" || known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag.slice(2));
  if (!matches) return response;
  const headers = new Headers(response.headers);
  headers.delete("Content-Type");
  return new Response(null, { status: 304, headers });
}

async function cached(cache: AnswerCache, tag: NonNullable<Route["cache"]>, c: C, answer: (c: C) => Promise<Response>) {
  if (c.get("principal").kind !== "anonymous") return answer(c);
  const now = c.get("ctx").now().getTime();
  const key = c.req.url;
  const entry = cache.get(key, tag, now);
  if (entry !== null) {
    await c.get("confirmed");
    const response = new Response(entry.body, { headers: entry.headers });
    return conditional(c, response, entry.body);
  }
  const response = await answer(c);
  if (response.status === 200) cache.put(key, tag, now, await response.clone().text(), response.headers);
  return response;
}
