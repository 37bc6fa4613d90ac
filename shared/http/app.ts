import { type Hook, zValidator } from "@hono/zod-validator";
import type { MiddlewareHandler } from "hono";
import { every } from "hono/combine";
import { HonoBase as Hono } from "hono/hono-base";
import type * as z from "zod";
import { describeError } from "../db/client.ts";
import { assertAdmin } from "../identity/admin.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { requestId } from "../platform/ids.ts";
import { Problem } from "../platform/problem.ts";
import { type AddressHashes, givenAddress } from "./address.ts";
import { cached, render, setCommonHeaders } from "./answer.ts";
import { bodySteps } from "./body.ts";
import { ByBeginning } from "./by-beginning.ts";
import type { AnswerCache } from "./cache.ts";
import { cors } from "./cors.ts";
import { admit, assertScope } from "./credentials.ts";
import { callersOf, idempotencyOf } from "./idempotency.ts";
import { assertWithin, countAddress, setLimitHeaders } from "./limits.ts";
import { problemResponse, toProblem } from "./problems.ts";
import { namesFirst } from "./order.ts";
import { knownParameters, refuseUnknown } from "./parameters.ts";
import { asHono, fits, hidingOf, methodsAt } from "./paths.ts";
import { type Endpoint, type Route, scopeOf } from "./route.ts";
import type { HttpContext, HttpEnv } from "./variables.ts";
import { findingsProblem, unstorable, validationProblem } from "./validation.ts";

/** What the service needs to know of a request, a message or a trigger to make its context. */
export type NewRequest = Pick<Context, "requestId" | "addressHash" | "defer"> & {
  addressHashBefore?: string | null;
  network?: Context["network"];
  /** Whether nobody waits for it: then it lets in, between any two answers of the database, what somebody does wait for. */
  isBackground?: boolean;
};

/** What the HTTP layer needs of the service. */
export interface Service {
  context(request: NewRequest): Context;
  /** The hashes of a caller's address, which is given as the platform tells it. */
  addressHashes(given: string | undefined): AddressHashes;
  cache: AnswerCache;
}

/** Statuses of problems with a request's content. */
const ABOUT_CONTENT: ReadonlySet<number> = new Set([400, 410, 413, 415, 422]);

/** Shows a problem to a person, as a page. */
export type ShowProblem = (problem: Problem, ctx: Context, c: HttpContext) => Promise<Response>;

/**
 * The Hono app for these endpoints. A request passes through request id, limits, credentials, validation, handler. A
 * browser that asks for a page is shown problems by `show`; everybody else gets them as problem+json.
 */
export function createApp(service: Service, endpoints: readonly Endpoint[], show?: ShowProblem): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>({ router: new ByBeginning() });
  const fail = failWith(show);
  app.use(begin(service, app), cors());
  for (const endpoint of namesFirst(endpoints)) {
    app.on(endpoint.method.toUpperCase(), [asHono(endpoint.path)], whenAsked(service, endpoint, endpoints));
  }
  app.notFound((c) => {
    const allowed = methodsAt(endpoints, c.req.path);
    const problem =
      allowed.length === 0
        ? new Problem("not_found", "There is nothing at this path; /docs lists every endpoint.")
        : new Problem("method_not_allowed", `This path does not allow ${c.req.method}; use ${allowed.join(" or ")}.`, {
            headers: { Allow: allowed.join(", ") },
          });
    // Returned and not thrown: a throw here would skip the headers that the middleware adds to every answer.
    return fail(problem, c);
  });
  app.onError(async (error, c) => {
    // If Redis refuses the caller, or the caller has no right to the thing, that is the answer, whatever else is wrong
    // with the request: nobody is told about the content of a request for somebody else's thing.
    try {
      await c.get("confirm")?.();
      if (error instanceof Problem && ABOUT_CONTENT.has(error.status)) await c.get("assertRight")?.(error);
    } catch (refusal) {
      return fail(refusal instanceof Error ? refusal : new Error(String(refusal)), c);
    }
    return fail(error, c);
  });
  return app;
}

function begin(service: Service, app: Hono<HttpEnv>): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const id = requestId(c.req.header("x-request-id"), new Date());
    const ctx = service.context({
      requestId: id,
      ...service.addressHashes(givenAddress((name) => c.req.header(name))),
      defer: (work) => c.executionCtx.waitUntil(work()),
    });
    c.set("ctx", ctx);
    c.set("standing", null);
    c.set("confirm", null);
    c.set("assertRight", null);
    c.set("whole", false);
    c.set("own", async (request) => app.fetch(request, c.env, c.executionCtx));
    c.set("params", {});
    c.set("query", {});
    c.set("body", undefined);
    await next();
    const { headers } = c.res;
    headers.set("X-Request-Id", id);
    setCommonHeaders(headers, ctx.env.BASE_URL);
    const standing = c.get("standing");
    if (standing !== null) setLimitHeaders(headers, standing);
    if (ctx.idempotency?.replayed === true) headers.set("Idempotency-Replayed", "true");
  };
}

function failWith(show: ShowProblem | undefined): (error: Error, c: HttpContext) => Promise<Response> {
  return async (error, c) => {
    const ctx = c.get("ctx");
    const problem = toProblem(error);
    // The lockout's answer is the same each time: it does not show the count of attempts.
    if (problem.code === "login_locked") c.set("standing", null);
    if (problem.status >= 500) {
      ctx.log.error("request failed", { path: c.req.routePath, code: problem.code, detail: describeError(error) });
    }
    const shown = show !== undefined && asksForPage(c) ? await show(problem, ctx, c) : null;
    const response = shown ?? problemResponse(problem, ctx);
    // Made by the context, so that cookies which were cleared before the throw reach the caller.
    return c.newResponse(response.body, response);
  };
}

/** Whether a person looks at this path with a browser: the APIs are for programs, whatever they say they take. */
function asksForPage({ req }: HttpContext): boolean {
  return !/^\/(?:api\/|graphql$)/.test(req.path) && /\btext\/html\b/i.test(req.header("accept") ?? "");
}

/**
 * Answers the requests of an endpoint; it is loaded, and its steps are put together, with the first of them. Where another
 * path hides it, the request is not its own: that path does not allow the method.
 */
function whenAsked(service: Service, endpoint: Endpoint, endpoints: readonly Endpoint[]): MiddlewareHandler<HttpEnv> {
  let steps: MiddlewareHandler | undefined;
  let hiding: string[] | undefined;
  return async (c, next) => {
    hiding ??= endpoint.path.includes("{") ? hidingOf(endpoint, endpoints) : [];
    if (hiding.some((path) => fits(path, c.req.path))) return next();
    steps ??= every(...pipeline(service, await endpoint.load()));
    return steps(c, next);
  };
}

function pipeline(service: Service, route: Route): MiddlewareHandler<HttpEnv>[] {
  const steps: MiddlewareHandler<HttpEnv>[] = [identify(route)];
  if (route.params !== undefined) steps.push(check("path", route.params));
  if (route.right !== undefined) steps.push(keepRight(route.right, route.noteRefusal));
  const known = knownParameters(route);
  if (known !== null) steps.push(refuseUnknown(known));
  if (route.query !== undefined) steps.push(check("query", route.query));
  if (route.cache !== undefined) steps.push(cached(service.cache, route, route.cache));
  steps.push(...bodySteps(route));
  steps.push((c) => handle(route, c));
  return steps;
}

/** Validates the parameters of the path or of the query, and keeps them for the handler. */
function check(part: "path" | "query", schema: z.ZodObject): MiddlewareHandler<HttpEnv> {
  const keep: Hook<Record<string, unknown>, HttpEnv, string, "param" | "query", object, z.ZodObject> = (result, c) => {
    if (!result.success) throw validationProblem(part, result.error);
    const findings = unstorable(part, result.data);
    if (findings.length > 0) throw findingsProblem(findings);
    c.set(part === "path" ? "params" : "query", result.data);
  };
  return part === "path" ? zValidator("param", schema, keep) : zValidator("query", schema, keep);
}

/** Keeps the check of the caller's right at hand, in case the request is refused for its content. */
function keepRight(right: NonNullable<Route["right"]>, noteRefusal: Route["noteRefusal"]): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const { ctx, principal, params } = c.var;
    const asked = { ctx, principal, params, c };
    c.set("assertRight", async (refused) => {
      const at = ctx.now();
      await right(asked);
      await noteRefusal?.(asked, refused, at);
    });
    await next();
  };
}

function identify(route: Route): MiddlewareHandler<HttpEnv> {
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
        const { ownTokens } = route;
        const cookiesOnly = route.auth === "visitor";
        const { claimed, confirm } = await admit(ctx, c, { limit, ownTokens, cookiesOnly }, (standing) =>
          c.set("standing", standing),
        );
        if (route.method === "get" && claimed !== null) {
          // A read changes nothing, so it starts at once; its answer waits for the confirmation.
          c.set("confirm", confirm);
          c.set("principal", claimed);
        } else {
          const before = ctx.now().getTime();
          c.set("principal", await confirm());
          ctx.admissionMs = ctx.now().getTime() - before;
        }
      }
    }
    await authorise(ctx, route, c.get("principal"));
    await next();
  };
}

async function authorise(ctx: Context, route: Route, principal: Principal): Promise<void> {
  const { auth } = route;
  if (auth === "none" || auth === "visitor") return;
  if (auth === "open") return assertScope(principal, scopeOf(route));
  if (principal.kind === "anonymous") {
    throw new Problem(
      "unauthenticated",
      "Sign in, or send an API key in the X-API-Key header where API keys are allowed.",
    );
  }
  if (principal.kind === "key") {
    if (auth === "session" || auth === "admin" || (auth === "scoped" && principal.scopes === null)) {
      throw new Problem("session_required", sessionOnly(route));
    }
    assertScope(principal, scopeOf(route));
  }
  if (auth === "admin") await assertAdmin(ctx, principal.userId);
}

/** Why a valid API key will not do. */
function sessionOnly(route: Route): string {
  const scope = scopeOf(route);
  return scope === null
    ? "This endpoint takes no API keys; sign in and use the session."
    : `Sign in and use the session, or an API key whose scopes name ${scope}.`;
}

/** Runs the handler while the caller is being confirmed, and again if the caller turns out to be somebody else. */
async function handle(route: Route, c: HttpContext): Promise<Response> {
  const confirm = c.get("confirm");
  if (confirm === null) return invoke(route, c);
  // The handler goes first: where it reads at once, that statement tells whether the session holds.
  const working = invoke(route, c);
  const [confirmation, work] = await Promise.allSettled([confirm(), working]);
  const refused = confirmation.status === "rejected";
  const another = !refused && confirmation.value.kind !== c.get("principal").kind;
  // An answer that is not sent must not keep the source of its body open.
  if ((refused || another) && work.status === "fulfilled") await work.value.body?.cancel();
  if (refused) throw confirmation.reason;
  if (another) {
    c.set("principal", confirmation.value);
    await authorise(c.get("ctx"), route, confirmation.value);
    return invoke(route, c);
  }
  if (work.status === "rejected") throw work.reason;
  return work.value;
}

async function invoke(route: Route, c: HttpContext): Promise<Response> {
  const { ctx, principal, params, query, body, own } = c.var;
  if (route.idempotent === true) {
    ctx.idempotency = idempotencyOf(c, callersOf(c, viewerId(principal)), body);
  }
  const result = await route.handler({ ctx, principal, params, query, body, c, own });
  return result instanceof Response ? result : render(route, c, result);
}
