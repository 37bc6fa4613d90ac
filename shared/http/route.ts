import type { Context as HonoContext } from "hono";
import type * as z from "zod";
import type { Scope, Subject } from "../identity/api-keys/scopes.ts";
import type { Anonymous, Principal, SessionPrincipal, UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import type { Problem, ProblemCode } from "../platform/problem.ts";
import type { OwnTokens } from "./credentials.ts";
import type { LimitName } from "./limits.ts";
import type { Reply } from "./reply.ts";

/**
 * Who may call an endpoint:
 * `none` anybody, and an account's credentials are not looked at (sign-in, credentials of another kind);
 * `open` anybody, credentials are optional; `visitor` anybody, and of credentials a browser's cookie alone is looked at, as
 * for all pages; `session` a signed-in person; `read`, `write` an API key of that scope or a session; `scoped` a session,
 * or an API key that was made with the scope named; `admin` an operator's session.
 */
export type AuthClass = "none" | "open" | "visitor" | "session" | "scoped" | "read" | "write" | "admin";

/**
 * What the handler of an `open` or `none` endpoint asks of its caller nevertheless: an account with a right to the thing
 * or the run's callback token, an agent's receiver token, the refresh cookie, the cookie of a sign-in's first step, the
 * session that ends, or the payment provider's signature.
 */
export type Needed = "runToken" | "receiver" | "refresh" | "firstStep" | "ending" | "signature";

type PrincipalOf<A extends AuthClass> = A extends "session" | "admin"
  ? SessionPrincipal
  : A extends "scoped" | "read" | "write"
    ? UserPrincipal
    : A extends "visitor"
      ? Anonymous | SessionPrincipal
      : Principal;

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;

/** What a handler gets: everything of the request, validated. */
export interface Call<A extends AuthClass, P, Q, B> {
  ctx: Context;
  principal: PrincipalOf<A>;
  params: Output<P>;
  query: Output<Q>;
  body: Output<B>;
  /** Hono's context, for what no schema describes: cookies, streams, Accept. */
  c: HonoContext;
  /** The service itself, for pages: answers another request in this process, with all the checks of one from outside. */
  own(request: Request): Promise<Response>;
}

/** A call before its query and body are validated. */
export type Asked<A extends AuthClass, P> = Omit<Call<A, P, undefined, undefined>, "query" | "body" | "own">;

/** A call as the pipeline makes it, for any route: what the route's own schemas returned. */
export interface AnyCall {
  ctx: Context;
  principal: Principal;
  params: unknown;
  query: unknown;
  body: unknown;
  c: HonoContext;
  own(request: Request): Promise<Response>;
}

/** An answer that is not JSON of a schema: what it is, for the OpenAPI document. */
export interface OtherContent {
  type: string;
  description: string;
}

/**
 * The scope that an endpoint asks of API keys; null where every key will do, or none. Endpoints that are open to all ask
 * for no more than to read: their handlers ask for more where they write.
 */
export function scopeOf({ auth, subject, method }: Pick<Route, "auth" | "subject" | "method">): Scope | null {
  if (subject === undefined) return null;
  return `${subject}:${auth === "write" || (auth === "scoped" && method !== "get") ? "write" : "read"}`;
}

/** One endpoint, declared once: validation, authentication, limits, types and documentation follow from it. */
export interface Route {
  id: string;
  method: "get" | "post" | "patch" | "delete";
  /** With parameters as `{name}`. One at the end that is called `{…_path}` takes the rest of the path, with its slashes. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  auth: AuthClass;
  /** What the scopes of an API key have to cover (`scopeOf`). Not given where every key will do, or none. */
  subject?: Subject;
  /** What the handler asks for where `auth` lets everybody through; the OpenAPI document says so. */
  needs?: Needed;
  /** The limit class; by default `read` for GET, else `write`. Null, no limit, for what our own infrastructure calls. */
  limit?: LimitName | null;
  /** Bearer tokens that are not taken for an account's credentials. */
  ownTokens?: OwnTokens;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /**
   * Throws 404 or 403 where the caller has no right to do this with the thing that the path names. It is called only when
   * a request is about to be refused for its content, so that strangers learn nothing else; for all other requests the
   * handler's own statement decides.
   */
  right?(asked: Omit<AnyCall, "query" | "body" | "own">): Promise<unknown>;
  /** Takes note of what a request of somebody with that right is refused for, and when that was known; it never rejects. */
  noteRefusal?(asked: Omit<AnyCall, "query" | "body" | "own">, refused: Problem, at: Date): Promise<void>;
  /**
   * Where the body is not JSON of at most 1 MiB: further media types, the limit in bytes, whether the handler gets the
   * bytes to decode by itself, and the problem for a body that does not fit its schema, where the standard that the
   * endpoint follows wants another status than 422.
   */
  accepts?: { types: readonly string[]; maxBytes: number; asBytes?: boolean; invalid?: ProblemCode };
  /** The list in the body whose items succeed or fail one by one: an item that can't be stored becomes a `RefusedItem`. */
  itemsIn?: string;
  returns: Record<number, z.ZodType | OtherContent | null>;
  /** The answer with 201 or 202 names the address of what was made, where it can be read. */
  located?: true;
  /** Media types of the answers in `returns` besides application/json; the handler sets the Content-Type. */
  mediaTypes?: readonly string[];
  /** The answer is sent while it is read, before anything could name its version: it has no ETag. */
  streamed?: true;
  problems?: readonly ProblemCode[];
  /** Whether an Idempotency-Key is honoured. */
  idempotent?: boolean;
  /** Answers to callers without credentials may be kept in the isolate until something with this tag changes. */
  cache?: CacheTag;
  handler(call: AnyCall): Promise<Reply | Response> | Reply | Response;
}

/** What is known of an endpoint before it is loaded. */
export interface Endpoint extends Pick<Route, "method" | "path"> {
  load(): Promise<Route>;
}

/** What a cached answer depends on; one that goes by the board may show tasks and suites, too. */
export type CacheTag = "catalogue" | "board" | "fixed";

interface Spec<
  A extends AuthClass,
  P extends z.ZodObject | undefined,
  Q extends z.ZodObject | undefined,
  B extends z.ZodType | undefined,
> extends Omit<Route, "auth" | "params" | "query" | "body" | "right" | "noteRefusal" | "handler"> {
  auth: A;
  params?: P;
  right?(asked: Asked<A, P>): Promise<unknown>;
  noteRefusal?(asked: Asked<A, P>, refused: Problem, at: Date): Promise<void>;
  query?: Q;
  body?: B;
  handler(call: Call<A, P, Q, B>): Promise<Reply | Response> | Reply | Response;
}

/** Declares an endpoint; the handler's types follow from the schemas and the auth class. */
export function route<
  A extends AuthClass,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(spec: Spec<A, P, Q, B>): Route;
// The list of routes knows nothing of each one's schemas. The pipeline keeps the promise: it calls a handler with what
// these very schemas returned, for a caller whom `auth` let in.
export function route(spec: Route): Route {
  return spec;
}
