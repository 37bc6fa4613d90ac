import type { Context } from "../platform/context.ts";
import { exchange, type Exchange } from "../platform/outbound/exchange.ts";
import { edgeFailure } from "../platform/outbound/failure.ts";
import { parseJsonBounded } from "../platform/outbound/json.ts";
import { retryAfterMs } from "../platform/outbound/retry-after.ts";
import { signRequest } from "../platform/outbound/signature.ts";
import { outboundPolicy } from "../platform/outbound/url.ts";
import type { CallOutcome } from "./answer.ts";
import type { Job } from "./job.ts";
import { LIMITS } from "./limits.ts";
import type { Protocol } from "./protocols/protocol.ts";

const USER_AGENT = "AgentScreening/1.0 (+/docs)";

/**
 * Calls the agent of a job with a signed request, until the deadline. A 429 or 503 whose Retry-After ends before the
 * deadline is waited for, once. Never rejects for anything that the agent does.
 */
export async function callAgent(
  ctx: Context,
  job: Job,
  protocol: Protocol,
  body: string,
  deadline: Date,
): Promise<CallOutcome> {
  const url = job.agent.endpoint ?? "";
  const first = await send(ctx, job, url, body, deadline);
  if (!first.ok || (first.status !== 429 && first.status !== 503)) return judge(protocol, first);
  const wait = retryAfterMs(first.headers.get("retry-after"), ctx.now());
  if (wait === null || ctx.now().getTime() + wait >= deadline.getTime()) return judge(protocol, first);
  await new Promise((resolve) => setTimeout(resolve, wait));
  return judge(protocol, await send(ctx, job, url, body, deadline));
}

async function send(ctx: Context, job: Job, url: string, body: string, deadline: Date): Promise<Exchange> {
  const keys = await ctx.keys();
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": USER_AGENT,
    "X-Service-Run-Id": job.run.id,
    "Idempotency-Key": job.run.id,
    traceparent: traceparent(job.run.id),
  };
  const remaining = Math.max(1, deadline.getTime() - ctx.now().getTime());
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
      deadlineMs: remaining,
      maxResponseBytes: LIMITS.responseBytes,
    },
    { fetch: ctx.fetch, resolver: ctx.resolver, policy: outboundPolicy(ctx.env), now: ctx.now },
  );
}

/** W3C Trace Context: the run id is the trace id, so that the agent's spans find their run. */
export function traceparent(runId: string): string {
  const trace = runId.replaceAll("-", "");
  return `00-${trace}-${trace.slice(16)}-01`;
}

function judge(protocol: Protocol, result: Exchange): CallOutcome {
  const latencyMs = Math.round(result.latency_ms);
  if (!result.ok) {
    return { kind: "failure", code: result.failure_code, detail: result.detail, response: null, latencyMs };
  }
  if (result.status === 202 && protocol.callsBack) return { kind: "callback", latencyMs };
  const response = result.body;
  const unreached = edgeFailure(result.status);
  if (unreached !== null) {
    return { kind: "failure", code: unreached.failure_code, detail: unreached.detail, response: null, latencyMs };
  }
  if (result.status !== 200) {
    const detail = `The endpoint answered with HTTP status ${result.status}; 200 is expected.`;
    return { kind: "failure", code: "agent_http_error", detail, response, latencyMs };
  }
  const json = parseJsonBounded(new TextDecoder().decode(response));
  if (!json.ok) {
    const detail = json.reason === "too_deep" ? "The answer is nested too deeply." : "The answer is not JSON.";
    return { kind: "failure", code: "agent_invalid_response", detail, response, latencyMs };
  }
  const reading = protocol.read(json.value);
  return reading.ok
    ? { kind: "answer", answer: reading.answer, response, latencyMs }
    : { kind: "failure", code: reading.code, detail: reading.detail, response, latencyMs };
}
