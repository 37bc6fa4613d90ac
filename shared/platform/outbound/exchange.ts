import { readCapped } from "./body.ts";
import { classifyError, type ExchangeFailure } from "./failure.ts";
import { createPatience } from "../patience.ts";
import { createRecent } from "../recent.ts";
import { isLoopback, type OutboundPolicy } from "./policy.ts";
import { assertPublic, type DnsResolver } from "./resolve.ts";
import type { UrlVerdict } from "./url.ts";

/** How many URLs an isolate remembers its judgement of, and how long each may be. */
const [MOST_JUDGED, MOST_CHARACTERS] = [200, 512];

/** Who calls, as every request says, and where whoever finds it in a log can read what it is. */
export const userAgent = ({ BASE_URL }: { BASE_URL: string }): string => `AgentScreening/1.0 (+${BASE_URL}/docs)`;

/** A request to a URL that a stranger owns. */
export interface OutboundRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  /** Milliseconds for all that the other side does: connection, headers, and the last byte of the body. */
  deadlineMs: number;
  /** How long the body may be, counted after decompression. */
  maxResponseBytes: number;
  /** Whether a redirect is an answer, for the caller to judge where it leads; else it is a failure. */
  takesRedirects?: boolean;
}

/** What an exchange stands on. */
export interface OutboundDeps {
  fetch: typeof fetch;
  resolver: DnsResolver;
  policy: OutboundPolicy;
  now: () => Date;
}

/**
 * An answer with any status, a redirect only where those are taken, or why there is none; `status` is then that of a
 * redirect, else null. `latency_ms` runs from sending the request to the last byte or the failure; the name lookup is not
 * in it, but in `lookup_ms`, and it is 0 where nothing was sent.
 */
export type Exchange = { latency_ms: number; lookup_ms: number } & (
  | { ok: true; status: number; headers: Headers; body: Uint8Array }
  | ({ ok: false; status: number | null } & ExchangeFailure)
);

/** Where a request may go, or why it may not go there. */
export type Cleared = { ok: true; url: URL } | { ok: false; message: string };

/**
 * Judges a URL that a stranger owns, and every address of its name, before a packet goes there. Throws `ResolverFault`.
 * @example
 * const cleared = await clear("https://agent.example/run", deps) // { ok: true, url: URL }
 * await exchange(request, deps, cleared)
 */
export async function clear(
  url: string,
  { policy, resolver }: Pick<OutboundDeps, "policy" | "resolver">,
): Promise<Cleared> {
  const checked = await judge(url, policy);
  if (!checked.ok || isLoopback(checked.url)) return checked;
  const named = await assertPublic(checked.url.hostname, resolver);
  return named.ok ? checked : named;
}

/**
 * Calls a URL that a stranger owns, and trusts nothing about it: the URL and every address of its name are judged
 * before a packet goes there, redirects are not followed, and the answer is cut at its deadline and at its byte cap,
 * of which no more than one chunk beyond is read. Whatever the other side does is in the result; it throws
 * `ResolverFault` alone, before anything was sent. A slow lookup takes nothing of the other side's time, and nor does what
 * else this isolate does. `cleared` spares the judgement of a URL that `clear` has just given.
 *
 * The runtime resolves the name again when it connects; against an answer that changes in between stands the Worker's
 * `global_fetch_strictly_public`.
 */
export async function exchange(request: OutboundRequest, deps: OutboundDeps, cleared?: Cleared): Promise<Exchange> {
  // Taken out of the object: workerd refuses a fetch that is called as a method.
  const { fetch } = deps;
  let sentAt: number | undefined;
  const begunAt = deps.now().getTime();
  const took = () => {
    const at = deps.now().getTime();
    // Machines set their clocks, and then what has ended began later.
    return { latency_ms: Math.max(0, at - (sentAt ?? at)), lookup_ms: (sentAt ?? at) - begunAt };
  };
  const fail = (
    failure_code: ExchangeFailure["failure_code"],
    detail: string,
    status: number | null = null,
  ): Exchange => ({ ok: false, status, failure_code, detail, ...took() });

  const way = cleared ?? (await clear(request.url, deps));
  if (!way.ok) return fail("endpoint_not_allowed", way.message);
  const { url } = way;

  async function converse(signal: AbortSignal): Promise<Exchange> {
    sentAt = deps.now().getTime();
    const { method, headers, body = null } = request;
    const response = await fetch(url, { method, headers, body, redirect: "manual", signal });
    if (isRedirect(response) && (request.takesRedirects !== true || response.type === "opaqueredirect")) {
      const detail = "The answer is a redirect. Give the final URL instead.";
      return fail("agent_redirected", detail, response.type === "opaqueredirect" ? null : response.status);
    }
    const bytes = await readCapped(response, request.maxResponseBytes);
    if (bytes === null) {
      return fail("agent_response_too_large", `The answer is longer than ${request.maxResponseBytes} bytes.`);
    }
    isRead = true;
    return { ok: true, status: response.status, headers: response.headers, body: bytes, ...took() };
  }

  const deadline = new AbortController();
  let isRead = false;
  const limit = createPatience(request.deadlineMs);
  const expiry = new Promise<Exchange>((resolve) => {
    limit.signal.addEventListener("abort", () => {
      resolve(fail("agent_timeout", `There was no complete answer within ${request.deadlineMs} ms.`));
    });
  });
  try {
    return await Promise.race([converse(deadline.signal), expiry]);
  } catch (error) {
    const { failure_code, detail } = classifyError(error, url);
    return fail(failure_code, detail);
  } finally {
    limit.end();
    // Whatever is still under way, a connection or an unread body, ends here.
    if (!isRead) deadline.abort();
  }
}

let checkUrl: ((url: string, policy: OutboundPolicy) => UrlVerdict) | undefined;

/** What was judged of the URLs that were called last: by their text alone, so that it holds for as long as the policy. */
const verdicts = createRecent<OutboundPolicy, UrlVerdict>(MOST_JUDGED);

async function judge(url: string, policy: OutboundPolicy): Promise<UrlVerdict> {
  // Loaded with the first call: the list of public suffixes comes with it.
  const check = (checkUrl ??= (await import("./url.ts")).checkUrl);
  return url.length > MOST_CHARACTERS ? check(url, policy) : verdicts.get(policy, url, () => check(url, policy));
}

function isRedirect(response: Response): boolean {
  return response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400);
}
