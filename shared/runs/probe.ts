import { randomToken } from "../platform/crypto.ts";
import { newId } from "../platform/ids.ts";
import type { Exchange } from "../platform/outbound/exchange.ts";
import type { CallOutcome, FailureCode } from "./answer.ts";
import { outcomeOf, PAUSE_MS, promisesCallback, send, type Sending, unexpected } from "./call.ts";
import type { Job } from "./job.ts";
import { otherForm } from "./other-form.ts";
import { protocolOf } from "./protocols/index.ts";
import { MODEL } from "./protocols/openai-chat.ts";
import { formWords } from "./wrong-form.ts";

/** How long a probe may take, in milliseconds: no longer than a person waits for it. */
const DEADLINE_MS = 10_000;

/** Where a probe goes, and in which protocol. */
export interface Target {
  endpoint: string;
  agent_protocol: Job["agent"]["agent_protocol"];
  auth_header: Job["agent"]["auth_header"];
}

/** What one exchange with an endpoint showed. `status_code` is null if neither a complete answer nor a redirect came. */
export interface Probe {
  ok: boolean;
  status_code: number | null;
  latency_ms: number;
  failure_code: FailureCode | null;
  /** For the endpoint's owner; quotes nothing of the answer. */
  detail: string;
}

/** How to fix a failure. */
const ADVICE: Partial<Record<FailureCode, string>> = {
  agent_timeout:
    "Answer within 10 seconds or, in the native protocol, with 202 and then by the callback. If its host puts the endpoint " +
    "to sleep, test again once it is awake.",
  agent_unreachable: "Check that the server runs, and that nothing in front of it rejects the service's calls.",
  agent_tls_error: "The server has to send the intermediate certificates, too; a browser may do without them.",
  agent_redirected:
    "Often a slash at the end of the path is all that differs. If it leads to a page to sign in, what stands before the " +
    "endpoint has to let the service's calls pass.",
  agent_http_error:
    "Answer a POST to this exact path with 200, in the protocol that agent_protocol names. Credentials beside the signature " +
    "are given as the agent's auth_header.",
  agent_invalid_response:
    "Compare the answer with what agent_protocol specifies; change that if the endpoint speaks another one.",
  agent_response_too_large: "Keep answers within 1 MiB, and lists and objects within 50,000 items and members in all.",
  agent_reported_failure: "The endpoint was reached; look at the agent's own log.",
};

/**
 * Clients of this API are given the address above the path. Servers of several models know none by that name unless they are
 * told to. Both say 404 or 400.
 */
const MODEL_ADVICE =
  `Give the whole URL, often with /chat/completions at its end. Each request names the model "${MODEL}": let the server ` +
  "take that name.";

/** 1.0 has other names for its methods than what came before, and a server of either answers the other's with an error. */
const VERSION_ADVICE =
  "If it knows no such method, it speaks another version of A2A: agent_protocol is a2a for 0.2 and 0.3, a2a_1 for 1.0. A server " +
  "that fails at a data part has to refuse it by an error (-32005): the texts are sent alone then.";

/** What else may mend a failure in one protocol. */
const PROTOCOL_ADVICE: Record<Target["agent_protocol"], Partial<Record<FailureCode, string>>> = {
  native: {},
  openai_chat: { agent_http_error: MODEL_ADVICE },
  a2a: { agent_reported_failure: VERSION_ADVICE },
  a2a_1: { agent_reported_failure: VERSION_ADVICE },
};

/**
 * Sends one signed request with a tiny task to an endpoint, in its protocol, as a run does; allows it 10 seconds and 1 MiB.
 * The endpoint is ok if it answers by the protocol: with an answer, right or wrong, or by saying that it is still working
 * (202 in native, a task in progress in a2a, which is looked at once more: some servers take every task on, and fail at it
 * then). Never rejects for anything that the other side does; throws `ResolverFault` if nothing was sent.
 * @example
 * await probe(ctx, { endpoint: "https://agent.example/run", agent_protocol: "native", auth_header: null })
 * // { ok: true, status_code: 200, latency_ms: 120, failure_code: null, detail: "The endpoint answered by its protocol." }
 */
export async function probe(ctx: Sending["ctx"], target: Target): Promise<Probe> {
  const now = ctx.now();
  const job = probeJob(newId(now), target);
  const deadline = new Date(now.getTime() + DEADLINE_MS);
  const protocol = protocolOf(target.agent_protocol);
  const request = protocol.request(job, {
    deadline: deadline.toISOString(),
    url: `${ctx.env.BASE_URL}/api/v1/runs/${job.run.id}`,
    // It has the form that agents expect, but belongs to no run.
    token: `run_${randomToken()}`,
  });
  const sending = { ctx, job, remainingMs: () => DEADLINE_MS };
  let result = await send(sending, JSON.stringify(request), { "Idempotency-Key": job.run.id });
  const other = otherForm(result, protocol, job);
  if (other !== null) {
    const takenMs = result.latency_ms;
    result = await send({ ...sending, remainingMs: () => DEADLINE_MS - takenMs }, other, {});
    result = { ...result, latency_ms: result.latency_ms + takenMs };
  }
  const measured = { status_code: result.status, latency_ms: Math.round(result.latency_ms) };
  const succeeded = (detail: string): Probe => ({ ok: true, ...measured, failure_code: null, detail });
  if (promisesCallback(result, protocol)) {
    return succeeded("The endpoint took the task and promised to call back.");
  }
  let outcome = outcomeOf(result, measured.latency_ms, job, (body) => protocol.read(body, job));
  if (outcome.kind === "pending") {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS.first));
    const left = { ...sending, remainingMs: () => DEADLINE_MS - measured.latency_ms };
    result = await send(left, JSON.stringify(outcome.request), {});
    outcome = outcomeOf(result, measured.latency_ms, job, outcome.read);
  }
  if (outcome.kind === "pending") return succeeded("The endpoint took the task and is working on it.");
  if (outcome.kind !== "failure") return succeeded("The endpoint answered by its protocol.");
  const { code } = outcome;
  const particular = PROTOCOL_ADVICE[target.agent_protocol][code];
  const detail = [unquoted(outcome, result, job), ADVICE[code], particular]
    .filter((text) => text !== undefined)
    .join(" ");
  return { ok: false, ...measured, status_code: result.status, failure_code: code, detail };
}

type Failed = Extract<CallOutcome, { kind: "failure" }>;

/** Why a call failed, without what the agent says of it: that is part of its answer, which whoever may test must not read. */
function unquoted({ code, detail }: Failed, result: Exchange, job: Job): string {
  if (!result.ok) return detail;
  if (code === "agent_http_error") return unexpected(result, job);
  if (code !== "agent_reported_failure") return detail;
  return `The agent answered that it failed. ${formWords(result, job.agent.agent_protocol)}`.trim();
}

function probeJob(id: string, agent: Target): Job {
  return {
    run: {
      id,
      agent_id: id,
      screening_session_id: null,
      repeat_index: null,
      repeat_total: null,
      attempt: 1,
      simulated: false,
    },
    agent,
    task: {
      domain: "instruction_following",
      prompt: "This tests the connection. Answer with the word: ready",
      input: null,
      output_format: "text",
      output_schema: null,
      tools: null,
      expected_output: null,
      time_limit_ms: DEADLINE_MS,
      reference_cost_usd: 0,
      reference_latency_ms: DEADLINE_MS,
    },
  };
}
