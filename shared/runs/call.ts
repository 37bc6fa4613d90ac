import { openHeader } from "../agents/auth-header.ts";
import type { Context } from "../platform/context.ts";
import { exchange, type Exchange, USER_AGENT } from "../platform/outbound/exchange.ts";
import { edgeFailure } from "../platform/outbound/failure.ts";
import { parseJsonBounded } from "../platform/outbound/json.ts";
import { remembering } from "../platform/outbound/resolve.ts";
import { retryAfterMs } from "../platform/outbound/retry-after.ts";
import { signRequest } from "../platform/outbound/signature.ts";
import { outboundPolicy } from "../platform/outbound/policy.ts";
import type { CallOutcome } from "./answer.ts";
import type { Job } from "./job.ts";
import { LIMITS } from "./limits.ts";
import { protocolOf } from "./protocols/index.ts";
import type { Pending, Protocol, Reading } from "./protocols/protocol.ts";

/** How long to wait before asking again for an answer that is not ready, in milliseconds. */
const PAUSE_MS = { first: 250, longest: 2000 };
/** How pauses grow: at this rate an answer is noticed late by at most a quarter of its latency, or by the first pause. */
const PAUSE_GROWTH = 1.25;

/** What is needed for one request to an agent. */
export interface Sending {
  ctx: Pick<Context, "env" | "fetch" | "keys" | "now" | "resolver">;
  job: Job;
  deadline: Date;
}

/** What is needed for a call; `sleep` resolves after the given number of milliseconds. */
interface Call extends Sending {
  sleep(ms: number): Promise<unknown>;
}

/**
 * Calls the agent of a job with a signed request, until the deadline. After a 429 or 503 whose Retry-After ends before the
 * deadline, each request is repeated once. An answer that is not ready is asked for again after 250 ms, then at growing
 * intervals of up to 2 s; the latency is then the time until it was there. Never rejects for anything that the agent does;
 * throws `ResolverFault`, in which case the agent was never called.
 * @example
 * await callAgent(ctx, job, protocolOf("native"), body, deadline)
 * // { kind: "answer", answer: { output: "42" }, response: Uint8Array […], latencyMs: 830 }
 */
export async function callAgent(
  ctx: Call["ctx"],
  job: Job,
  protocol: Protocol,
  body: string,
  deadline: Date,
  sleep: Call["sleep"] = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
): Promise<CallOutcome> {
  const { env, fetch, keys, now, resolver } = ctx;
  const call: Call = { ctx: { env, fetch, keys, now, resolver: remembering(resolver) }, job, deadline, sleep };
  const result = await ask(call, body, { "Idempotency-Key": job.run.id });
  const latencyMs = Math.round(result.latency_ms);
  if (result.ok && result.status === 202 && protocol.callsBack) return { kind: "callback", latencyMs };
  const outcome = outcomeOf(result, latencyMs, (value) => protocol.read(value, job));
  return outcome.kind === "pending" ? poll(call, outcome, ctx.now().getTime() - latencyMs) : outcome;
}

/** Asks for an answer until it is ready. `sentAt` is when the agent was first asked, in milliseconds since the epoch. */
async function poll(call: Call, pending: Pending, sentAt: number): Promise<CallOutcome> {
  const latency = () => Math.round(call.ctx.now().getTime() - sentAt);
  let outcome: CallOutcome | Pending = pending;
  let pause = PAUSE_MS.first;
  while (outcome.kind === "pending") {
    const left = remainingMs(call);
    if (left <= PAUSE_MS.first) {
      const detail = "The agent was still at work when its time was over.";
      return { kind: "failure", code: "agent_timeout", detail, response: null, latencyMs: latency() };
    }
    // Pauses shorten again towards the deadline, so that an agent can use nearly all of its time.
    await call.sleep(Math.round(Math.max(PAUSE_MS.first, Math.min(pause, left / 2))));
    // No Idempotency-Key: under the run's key, an agent would have to repeat its first answer.
    const result = await ask(call, JSON.stringify(outcome.request));
    outcome = outcomeOf(result, latency(), outcome.read);
    pause = Math.min(PAUSE_GROWTH * pause, PAUSE_MS.longest);
  }
  return outcome;
}

/** One exchange, and a second one after a 429 or 503 that asks to come back before the deadline. */
async function ask(call: Call, body: string, headers: Record<string, string> = {}): Promise<Exchange> {
  const first = await send(call, body, headers);
  if (!first.ok || (first.status !== 429 && first.status !== 503)) return first;
  const wait = retryAfterMs(first.headers.get("retry-after"), call.ctx.now());
  if (wait === null || wait >= remainingMs(call)) return first;
  await call.sleep(wait);
  return send(call, body, headers);
}

/** Sends one signed request to a job's agent, with the `added` headers; gives up at the deadline. Throws `ResolverFault`. */
export async function send(sending: Sending, body: string, added: Record<string, string>): Promise<Exchange> {
  const { ctx, job } = sending;
  const url = job.agent.endpoint ?? "";
  const keys = await ctx.keys();
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": USER_AGENT,
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
      deadlineMs: Math.max(1, remainingMs(sending)),
      maxResponseBytes: LIMITS.responseBytes,
    },
    { fetch: ctx.fetch, resolver: ctx.resolver, policy: outboundPolicy(ctx.env), now: ctx.now },
  );
}

function remainingMs({ ctx, deadline }: Sending): number {
  return deadline.getTime() - ctx.now().getTime();
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

/** The outcome of a call by its exchange, unless `read` finds that the agent is still working. */
export function outcomeOf(
  result: Exchange,
  latencyMs: number,
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
    const detail = `The endpoint answered with HTTP status ${result.status}; 200 is expected.`;
    return { kind: "failure", code: "agent_http_error", detail, response, latencyMs };
  }
  const json = parseJsonBounded(new TextDecoder().decode(response), { exact: true });
  if (!json.ok) {
    const detail = json.reason === "too_deep" ? "The answer is nested too deeply." : "The answer is not JSON.";
    return { kind: "failure", code: "agent_invalid_response", detail, response, latencyMs };
  }
  const reading = read(json.value);
  return reading.kind === "pending" ? reading : { ...reading, response, latencyMs };
}
