import { randomToken } from "../platform/crypto.ts";
import { newId } from "../platform/ids.ts";
import type { FailureCode } from "./answer.ts";
import { judge, send, type Sending } from "./call.ts";
import type { Job } from "./job.ts";
import { protocolOf } from "./protocols/index.ts";

/** How long a probe may take, in milliseconds: no longer than a person waits for it. */
const DEADLINE_MS = 10_000;

/** Where a probe goes, and what is spoken there. */
export interface Target {
  endpoint: string;
  agent_protocol: Job["agent"]["agent_protocol"];
}

/** What one exchange with an endpoint showed. `status_code` is null where no complete answer and no redirect came. */
export interface Probe {
  ok: boolean;
  status_code: number | null;
  latency_ms: number;
  failure_code: FailureCode | null;
  /** For the endpoint's owner; it quotes nothing of the answer. */
  detail: string;
}

/** What mends a failure. */
const MEND: Partial<Record<FailureCode, string>> = {
  agent_timeout: "Answer within 10 seconds, or, speaking native, with 202 and by the callback.",
  agent_unreachable: "Check that the server runs, and that nothing in front of it turns the service's calls away.",
  agent_http_error: "Answer a POST to this very path with 200, without credentials; the signature tells who calls.",
  agent_invalid_response: "Compare the answer with the one that agent_protocol describes.",
  agent_response_too_large: "Keep answers within 1 MiB.",
  agent_reported_failure: "The endpoint is reached; look into the agent's own log.",
};

/**
 * Sends one signed request with a tiny task to an endpoint, in its protocol, as a run does; at most 10 seconds and 1 MiB.
 * The endpoint is ok when it answers by the protocol: with an answer, whether right or not, or with the word that it is
 * at work (202 in native, a task under way in a2a). Never rejects for anything that the other side does; throws
 * `ResolverFault` where nothing was sent.
 */
export async function probe(ctx: Sending["ctx"], target: Target): Promise<Probe> {
  const now = ctx.now();
  const job = probeJob(newId(now), target);
  const deadline = new Date(now.getTime() + DEADLINE_MS);
  const protocol = protocolOf(target.agent_protocol);
  const request = protocol.request(job, {
    deadline: deadline.toISOString(),
    url: `${ctx.env.BASE_URL}/api/v1/runs/${job.run.id}`,
    // Of the form that agents expect; there is no run that it would open.
    token: `run_${randomToken()}`,
  });
  const result = await send({ ctx, job, deadline }, JSON.stringify(request), { "Idempotency-Key": job.run.id });
  const measured = { status_code: result.status, latency_ms: Math.round(result.latency_ms) };
  const succeeded = (detail: string): Probe => ({ ok: true, ...measured, failure_code: null, detail });
  if (result.ok && result.status === 202 && protocol.callsBack) {
    return succeeded("The endpoint took the task and promised to call back.");
  }
  const outcome = judge(result, measured.latency_ms, (body) => protocol.read(body, job));
  if (outcome.kind === "pending") return succeeded("The endpoint took the task and is at work on it.");
  if (outcome.kind !== "failure") return succeeded("The endpoint answered by its protocol.");
  const { code } = outcome;
  // What the agent says of its failure is content of the answer.
  const cause = code === "agent_reported_failure" ? "The agent answered that it failed." : outcome.detail;
  const detail = [cause, MEND[code]].filter((text) => text !== undefined).join(" ");
  return { ok: false, ...measured, failure_code: code, detail };
}

function probeJob(id: string, { endpoint, agent_protocol }: Target): Job {
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
    agent: { endpoint, agent_protocol },
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
