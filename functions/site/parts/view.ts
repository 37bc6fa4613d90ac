import type { Context as HonoContext } from "hono";
import { getCookie } from "hono/cookie";
import * as z from "zod";
import { MAX_BODY_BYTES } from "../../../shared/http/body.ts";
import { SESSION_COOKIE } from "../../../shared/http/cookie-names.ts";
import { assertSameSite } from "../../../shared/http/credentials.ts";
import type { Reply } from "../../../shared/http/reply.ts";
import type { AnyCall, CacheTag, Route } from "../../../shared/http/route.ts";
import { verifyAccessToken } from "../../../shared/identity/sessions/access-token.ts";
import type { Context } from "../../../shared/platform/context.ts";
import { notFound, Problem } from "../../../shared/platform/problem.ts";
import { type Api, apiOf } from "./api.ts";
import { holdsTyped, isWorthSending, keptForm } from "./kept-form.tsx";
import { mayPass } from "./may-pass.ts";
import { localPath, RESUME_PATH, withNext } from "./paths.ts";
import { showProblem } from "./problem.tsx";
import { ACCOUNT, accountOf, isSignedIn } from "./signed-in.ts";

/** One visit of a page. */
export interface Visit {
  ctx: Context;
  c: HonoContext;
  /** The parameters of the path: ids. */
  params: Record<string, string>;
  query: URLSearchParams;
  /** What was typed; empty where nothing was sent. */
  form: URLSearchParams;
  api: Api;
  own: AnyCall["own"];
}

/** What is shown as a reply gets an ETag, so that a page which is the same for everybody is sent once. */
type Shows = (visit: Visit) => Promise<Response | Reply> | Response | Reply;

/**
 * A page for people, declared once. It decides nothing: what it shows and changes it asks of the service's own interface,
 * as its visitor. `take` gets what the page's form sends.
 */
export interface View {
  /** With parameters as `{name}`. */
  path: string;
  title: string;
  show: Shows;
  take?: Shows;
  /**
   * For a page that shows everybody the same: it is read as a stranger reads it, whoever visits, and kept as the answers of
   * the interface are until something with this tag changes. `query` names the parameters that it goes by.
   */
  kept?: { tag: CacheTag; query?: z.ZodObject };
}

/** Declares a page. */
export function view(spec: View): View {
  return spec;
}

/** What a search engine should have beside the board and agents: any other page is about one person, one run or one errand. */
const FOUND =
  /^\/(?:marketplace(?:\/\{listing_id\})?|(?:suites|docs).*|compare|verify|log|pricing|terms|privacy|status|sign-up|.*\..*)$/;

const FORM = "application/x-www-form-urlencoded";
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const Bytes = z.instanceof(Uint8Array);

/** The methods of a page. */
export function methodsOf({ take }: View): ("get" | "post")[] {
  return take === undefined ? ["get"] : ["get", "post"];
}

/** A page as the pipeline runs it. Who visits, and how often, is for the endpoints to judge that the page calls. */
export function routeOf({ path, title, show, take, kept }: View, method: string): Route {
  const base = {
    id: path,
    path,
    tag: "Pages",
    summary: title,
    auth: "none",
    limit: null,
    // People follow links with parameters of others in them.
    query: z.looseObject({}),
    returns: { 200: { type: "text/html", description: title } },
  } as const;
  const shown = (call: AnyCall, asStranger = false) => {
    if (!FOUND.test(path)) call.c.header("X-Robots-Tag", "noindex");
    return visited(call, show, asStranger);
  };
  if (method === "get" && kept !== undefined) {
    const { tag: cache, query = z.object({}) } = kept;
    const params = z.object(Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, z.string()])));
    return { ...base, method, params, query, cache, handler: (call) => shown(call, true) };
  }
  if (method === "get") return { ...base, method, handler: (call) => shown(call) };
  return {
    ...base,
    method: "post",
    body: Bytes,
    accepts: { types: [FORM], maxBytes: MAX_BODY_BYTES, asBytes: true },
    handler(call) {
      // Signing in is protected too: a visitor must not end up in somebody else's account.
      assertSameSite(call.ctx, call.c);
      return visited(call, take ?? show);
    },
  };
}

async function visited({ ctx, c, own, body }: AnyCall, work: Shows, asStranger = false): Promise<Response | Reply> {
  const form = new URLSearchParams(body === undefined ? "" : new TextDecoder().decode(Bytes.parse(body)));
  const { searchParams: query } = new URL(c.req.url);
  const params = c.req.param();
  // They go into the paths of requests to the interface, so nothing but an id or a suite's name may.
  if (Object.entries(params).some(([name, value]) => !(name === "slug" ? SLUG : UUID).test(value)))
    throw notFound("page");
  try {
    assertSameAccount(c, form);
    return await work({
      ctx,
      c,
      params,
      query,
      form,
      own,
      api: apiOf(c, ctx, own, { as: asStranger ? "stranger" : "visitor" }),
    });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === "unauthenticated") return signInFirst(c, form);
    const { pathname, search } = new URL(c.req.url);
    if ((mayPass(error) || error.code === "rate_limited") && isWorthSending(form))
      return showProblem(error, ctx, c, { next: pathname + search, form });
    throw error;
  }
}

/** Refuses a form that was shown to another account than the one that the browser has come to be signed in to. */
function assertSameAccount(c: HonoContext, form: URLSearchParams): void {
  const shownTo = form.getAll(ACCOUNT);
  // Most visits send no form: for those no cookie is taken apart.
  const account = shownTo.length === 0 ? null : accountOf(c);
  if (account !== null && shownTo.some((other) => other !== account))
    throw new Problem(
      "forbidden",
      "Nothing was changed: the page was opened from another account than the one you are signed in to now. Load it again first.",
    );
}

/**
 * For a page that shows its owner more than a stranger, or shows a stranger nothing: sends a browser whose session is over
 * to where it is taken up again, and back, as a stranger where that can't be. Null where the page can be shown at once.
 */
export async function resumeFirst({ ctx, c }: Pick<Visit, "ctx" | "c">): Promise<Response | null> {
  const token = getCookie(c, SESSION_COOKIE);
  if (token === undefined || (await verifyAccessToken(ctx, token)) !== null) return null;
  const { pathname, search } = new URL(c.req.url);
  c.header("Cache-Control", "no-store");
  return c.redirect(`${withNext(RESUME_PATH, localPath(pathname + search))}&open=true`, 302);
}

/** The page as its owner sees it where the browser has a session, in force or not. */
export function asOwner(show: (visit: Visit) => Promise<Response | Reply>): Shows {
  return async (visit) => (await resumeFirst(visit)) ?? show(visit);
}

/**
 * Sends a visitor without a session in force to where one is taken up again: with a form still in hand where there was a
 * session, since that of a page left open ends after minutes; else to sign in. Both lead back here. What was typed comes
 * back to be sent again.
 */
function signInFirst(c: HonoContext, form: URLSearchParams): Response {
  const { pathname, search } = new URL(c.req.url);
  const next = localPath(pathname + search);
  c.header("Cache-Control", "no-store");
  if (!isSignedIn(c)) return holdsTyped(form) ? keptForm(c, next, form) : c.redirect(withNext("/sign-in", next), 303);
  return c.redirect(withNext(RESUME_PATH, next), c.req.method === "POST" ? 307 : 303);
}
