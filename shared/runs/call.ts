import { openHeader } from "../agents/auth-header.ts";
import type { Context } from "../platform/context.ts";
import { clear, type Cleared, exchange, type Exchange, userAgent } from "../platform/outbound/exchange.ts";
import { edgeFailure } from "../platform/outbound/failure.ts";
import { MAX_VALUES, parseJsonBounded } from "../platform/outbound/json.ts";
import { type DnsResolver, remembering } from "../platform/outbound/resolve.ts";
import { retryAfterMs } from "../platform/outbound/retry-after.ts";
import { signRequest } from "../platform/outbound/signature.ts";
import { outboundPolicy } from "../platform/outbound/policy.ts";
import { asKept, type CallOutcome } from "./answer.ts";
import { isBrowserCheck } from "./gateway.ts";
import type { Job } from "./job.ts";
import { LIMITS } from "./limits.ts";
import { otherForm } from "./other-form.ts";
import { errorWords } from "./protocols/error-words.ts";
import { protocolOf } from "./protocols/index.ts";
import type { Pending, Protocol, Reading } from "./protocols/protocol.ts";
import { formWords } from "./wrong-form.ts";

/** How long to wait before asking again for an answer that is not ready, in milliseconds. */
export const PAUSE_MS = { first: 250, longest: 2000 };
/** How pauses grow: at this rate an answer is noticed late by at most a quarter of its latency, or by the first pause. */
const PAUSE_GROWTH = 1.25;

/** How long what was found of an agent's name holds within a call, in milliseconds. */
const LOOKUP_HOLDS_MS = 30_000;
/**
 * How much of what further look-ups take is taken off a call's time in all, in milliseconds. They take what the agent's own
 * name servers make them take, which could draw the call out beyond its lease.
 */
const LOOKUPS_MS = 5000;

/** What is needed for one request to an agent. */
export interface Sending {
  ctx: Pick<Context, "env" | "fetch" | "keys" | "now" | "resolver">;
  job: Job;
  /** How long the agent may take from when the request leaves, in milliseconds. */
  remainingMs(): number;
}

/** Where an agent is called, once its name has been looked up. */
export interface Line {
  cleared: Cleared;
  /** When the lookup began, in milliseconds since the epoch. */
  lookedUpAt: number;
  resolver: DnsResolver;
}

/** What is needed for a call; `sleep` resolves after the given number of milliseconds. */
interface Call extends Sending {
  sleep(ms: number): Promise<unknown>;
  /**
   * When the agent's time began, in milliseconds since the epoch: with the first request that left, and later by what was
   * taken off for further lookups. Null before.
   */
  sentAt: number | null;
  line: Line;
  /** How much may still be taken off for lookups, in milliseconds. */
  lookupsMs: number;
}

/** What came of a call, and when the agent's time began. */
export interface Called {
  outcome: CallOutcome;
  sentAt: Date;
}

/**
 * Looks up where an agent is called. Done before it is told its deadline, since that would not wait for a lookup. Throws
 * `ResolverFault`.
 */
export async function openLine(ctx: LookingUp, job: Job): Promise<Line> {
  return lookUp({ env: ctx.env, now: ctx.now, resolver: remembering(ctx.resolver) }, job);
}

type LookingUp = Pick<Context, "env" | "now" | "resolver">;

async function lookUp({ env, now, resolver }: LookingUp, job: Job): Promise<Line> {
  const lookedUpAt = now().getTime();
  const cleared = await clear(job.agent.endpoint ?? "", { resolver, policy: outboundPolicy(env) });
  return { cleared, lookedUpAt, resolver };
}

/**
 * Calls the agent of a job with a signed request, for the task's time limit from when that leaves. After a 429 or 503 whose
 * Retry-After ends within it, each request is repeated once. An answer that is not ready is asked for again after 250 ms,
 * then at growing intervals of up to 2 s; what the agent refuses for its form is asked once more in another one that its
 * protocol knows. The latency is the time from the first request to the end of the last answer,
 * waits included: the agent has its task all the while. Its name is looked up again after 30 s. What that takes is taken off
 * nobody, up to 5 s in all: so a call ends at most 10 s after the time limit has passed since the first request left. Never
 * rejects for anything that the agent does; throws `ResolverFault`.
 * @example
 * await callAgent(ctx, job, protocolOf("native"), body, await openLine(ctx, job))
 * // { outcome: { kind: "answer", answer: { output: "42" }, response: Uint8Array […], latencyMs: 830 }, sentAt: Date }
 */
export async function callAgent(
  ctx: Call["ctx"],
  job: Job,
  protocol: Protocol,
  body: string,
  line: Line,
  sleep: Call["sleep"] = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
): Promise<Called> {
  const { env, fetch, keys, now } = ctx;
  const call: Call = {
    ctx: { env, fetch, keys, now, resolver: line.resolver },
    job,
    sentAt: null,
    line,
    lookupsMs: LOOKUPS_MS,
    remainingMs: () => job.task.time_limit_ms - elapsedMs(call),
    sleep,
  };
  let result = await ask(call, body, { "Idempotency-Key": job.run.id });
  const other = otherForm(result, protocol, job);
  if (other !== null && call.remainingMs() > 0) result = await ask(call, other);
  const latencyMs = Math.round(result.latency_ms);
  const sentAt = new Date(call.sentAt ?? now());
  if (promisesCallback(result, protocol)) return { outcome: { kind: "callback", latencyMs }, sentAt };
  const outcome = outcomeOf(result, latencyMs, job, (value) => protocol.read(value, job));
  return { outcome: outcome.kind === "pending" ? await poll(call, outcome) : outcome, sentAt };
}

/** Whether an answer promises to report by the callback. Firewalls ask for a browser by the same status. */
export function promisesCallback(result: Exchange, { callsBack }: Protocol): boolean {
  return result.ok && result.status === 202 && callsBack && !isBrowserCheck(result.headers);
}

/** How much of its time the agent has used, in milliseconds. */
function elapsedMs({ ctx, sentAt }: Call): number {
  return sentAt === null ? 0 : Math.max(0, ctx.now().getTime() - sentAt);
}

/** Asks for an answer until it is ready. */
async function poll(call: Call, pending: Pending): Promise<CallOutcome> {
  let outcome: CallOutcome | Pending = pending;
  let pause = PAUSE_MS.first;
  while (outcome.kind === "pending") {
    const left = call.remainingMs();
    if (left <= PAUSE_MS.first) {
      const detail = "The agent was still at work when its time was over.";
      return { kind: "failure", code: "agent_timeout", detail, response: null, latencyMs: Math.round(elapsedMs(call)) };
    }
    // Pauses shorten again towards the deadline, so that an agent can use nearly all of its time.
    await call.sleep(Math.round(Math.max(PAUSE_MS.first, Math.min(pause, left / 2))));
    // No Idempotency-Key: under the run's key, an agent would have to repeat its first answer.
    const result = await ask(call, JSON.stringify(outcome.request));
    outcome = outcomeOf(result, Math.round(result.latency_ms), call.job, outcome.read);
    pause = Math.min(PAUSE_GROWTH * pause, PAUSE_MS.longest);
  }
  return outcome;
}

/** One exchange, and a second one after a 429 or 503 that asks to come back before the deadline. */
async function ask(call: Call, body: string, headers: Record<string, string> = {}): Promise<Exchange> {
  const first = await reach(call, body, headers);
  if (!first.ok || (first.status !== 429 && first.status !== 503)) return first;
  const wait = retryAfterMs(first.headers.get("retry-after"), call.ctx.now());
  if (wait === null || wait >= call.remainingMs()) return first;
  await call.sleep(wait);
  return reach(call, body, headers);
}

/**
 * One exchange, unless the agent's time is over once its name has been looked up. Its latency is all of that time until
 * then, which begins with the first one.
 */
async function reach(call: Call, body: string, headers: Record<string, string>): Promise<Exchange> {
  await lookUpAgain(call);
  if (call.sentAt !== null && call.remainingMs() <= 0) return outOfTime(call);
  const result = await send(call, body, headers, call.line.cleared);
  call.sentAt ??= call.ctx.now().getTime() - result.latency_ms;
  return { ...result, latency_ms: elapsedMs(call) };
}

/** Looks the agent's name up again where that was done too long ago, and takes off what it takes, as far as that goes. */
async function lookUpAgain(call: Call): Promise<void> {
  const begunAt = call.ctx.now().getTime();
  if (begunAt - call.line.lookedUpAt <= LOOKUP_HOLDS_MS) return;
  call.line = await lookUp(call.ctx, call.job);
  if (call.sentAt === null) return;
  const takenOff = Math.min(call.ctx.now().getTime() - begunAt, call.lookupsMs);
  call.lookupsMs -= takenOff;
  call.sentAt += takenOff;
}

/** What comes of an exchange for which the lookup before it left no time. */
function outOfTime(call: Call): Exchange {
  const detail = "The agent's time was over once its name had been looked up again.";
  return { ok: false, status: null, failure_code: "agent_timeout", detail, latency_ms: elapsedMs(call), lookup_ms: 0 };
}

/**
 * Sends one signed request to a job's agent, with the `added` headers; gives up when its time is over. `cleared` is what
 * was just found of where it goes. Throws `ResolverFault`.
 */
export async function send(
  sending: Sending,
  body: string,
  added: Record<string, string>,
  cleared?: Cleared,
): Promise<Exchange> {
  const { ctx, job } = sending;
  const url = job.agent.endpoint ?? "";
  const deadlineMs = Math.max(1, sending.remainingMs());
  const keys = await ctx.keys();
  const headers = {
    "Content-Type": "application/json",
    // Some servers refuse whoever does not say so, such as LangGraph's of A2A.
    Accept: "application/json",
    "User-Agent": userAgent(ctx.env),
    "X-Service-Run-Id": job.run.id,
    traceparent: traceparent(job.run.id),
    ...protocolOf(job.agent.agent_protocol).headers,
    ...added,
    ...openHeader(job.agent.auth_header, ctx.env),
  };
  const signature = await signRequest({ method: "POST", url, headers, body }, keys.active, {
    now: ctx.now(),
    agentUrl: ctx.env.BASE_URL,
  });
  return exchange(
    {
      url,
      method: "POST",
      headers: { ...headers, ...signature },
      body,
      deadlineMs,
      maxResponseBytes: LIMITS.responseBytes,
    },
    { fetch: ctx.fetch, resolver: ctx.resolver, policy: outboundPolicy(ctx.env), now: ctx.now },
    cleared,
  );
}

/**
 * W3C Trace Context: the run id is the trace id, so that the agent's spans find their run.
 * @example
 * traceparent("0199f3a2-7c1e-7abc-8def-0123456789ab") // "00-0199f3a27c1e7abc8def0123456789ab-8def0123456789ab-01"
 */
export function traceparent(runId: string): string {
  const trace = runId.replaceAll("-", "");
  return `00-${trace}-${trace.slice(16)}-01`;
}

/** What is wrong with an answer that can't be read. */
const UNREADABLE = {
  not_json: { code: "agent_invalid_response", detail: "The answer is not JSON." },
  too_deep: { code: "agent_invalid_response", detail: "The answer is nested too deeply." },
  too_many: {
    code: "agent_response_too_large",
    detail: `The answer has more than ${MAX_VALUES} items and members of lists and objects.`,
  },
} as const;

/** That an endpoint answered with another status than 200; quotes nothing of the answer. */
export function unexpected(result: Extract<Exchange, { ok: true }>, { agent }: Job): string {
  const words = formWords(result, agent.agent_protocol);
  return `The endpoint answered with HTTP status ${result.status}; 200 is expected. ${words}`.trim();
}

/** The outcome of a call for a job by its exchange, unless `read` finds that the agent is still working. */
export function outcomeOf(
  result: Exchange,
  latencyMs: number,
  job: Job,
  read: (value: unknown) => Reading,
): CallOutcome | Pending {
  if (!result.ok) {
    return { kind: "failure", code: result.failure_code, detail: result.detail, response: null, latencyMs };
  }
  const response = result.body;
  const unreached = edgeFailure(result.status);
  if (unreached !== null) {
    return { kind: "failure", code: unreached.failure_code, detail: unreached.detail, response: null, latencyMs };
  }
  if (result.status !== 200) {
    const said = errorWords(response);
    const detail = `${unexpected(result, job)}${said === "" ? "" : ` It says: ${said}`}`;
    return { kind: "failure", code: "agent_http_error", detail, response, latencyMs };
  }
  const json = parseJsonBounded(new TextDecoder().decode(response), { exact: true });
  if (!json.ok) {
    const { code, detail } = UNREADABLE[json.reason];
    const words = json.reason === "not_json" ? formWords(result, job.agent.agent_protocol) : "";
    return { kind: "failure", code, detail: `${detail} ${words}`.trim(), response, latencyMs };
  }
  const reading = read(json.value);
  if (reading.kind === "pending") return reading;
  if (reading.kind === "answer") return asKept({ ...reading, response, latencyMs });
  const words = formWords(result, job.agent.agent_protocol);
  // Before the rest, which may end with the agent's own words.
  return { ...reading, detail: `${words} ${reading.detail}`.trim(), response, latencyMs };
}
