import { parseEnv } from "../../../shared/platform/env.ts";
import { loadSigningKeys } from "../../../shared/platform/keys.ts";
import type { Job } from "../../../shared/runs/job.ts";
import type { Callback } from "../../../shared/runs/protocols/protocol.ts";
import { newSecrets } from "../../stack/settings.ts";
import { testKey } from "../outbound/rfc9421-key.ts";

/** The id of every run made here. */
export const RUN_ID = "019ab000-0000-7000-8000-000000000001";

/** A run of a text task against an endpoint; `task` says what is different about the task. */
export function jobOf(task: Partial<Job["task"]> = {}, agent: Partial<Job["agent"]> = {}): Job {
  return {
    run: {
      id: RUN_ID,
      agent_id: "019ab000-0000-7000-8000-000000000002",
      screening_session_id: null,
      repeat_index: null,
      repeat_total: null,
      attempt: 1,
      simulated: false,
    },
    agent: { endpoint: "https://agent.example.com/run", agent_protocol: "native", auth_header: null, ...agent },
    task: {
      domain: "reasoning",
      prompt: "Add them.",
      input: null,
      output_format: "text",
      output_schema: null,
      tools: null,
      expected_output: "the key",
      time_limit_ms: 60_000,
      reference_cost_usd: 0.01,
      reference_latency_ms: 1000,
      ...task,
    },
  };
}

/** A tool of that name that takes a city. */
export function toolOf(name: string) {
  return {
    name,
    description: `What ${name} does.`,
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  };
}

/** How an agent of these runs would report back. */
export const CALLBACK: Callback = {
  deadline: "2026-11-21T09:01:00.000Z",
  url: `https://screening.example.com/api/v1/runs/${RUN_ID}`,
  token: "run_secret",
};

/** JSON of about 1 MiB, the most that is read of an answer, which repeats `item`. */
export function flood(item: string): unknown[] {
  return JSON.parse(`[${`${item},`.repeat(Math.floor((1024 * 1024) / (item.length + 1)) - 1)}${item}]`);
}

/** The reading of an answer that is not what its protocol says. */
export function unfit(at: string) {
  return {
    kind: "failure",
    code: "agent_invalid_response",
    detail: `The answer does not fit the protocol${at === "" ? ": it is a list or a text, not an object" : ` at ${at}`}.`,
  };
}

/** The reading of an answer that says nothing. */
export const NO_OUTPUT = { kind: "failure", code: "agent_invalid_response", detail: "The answer has no output." };

const secrets = await newSecrets();

/** Settings under which loopback may be called; nothing else that they name is there. */
export const ENV = parseEnv({
  ENVIRONMENT: "test",
  BASE_URL: "https://screening.example.com",
  FRONTEND_URL: "https://screening.example.com",
  DATABASE_URL: "postgres://localhost/none",
  UPSTASH_REDIS_REST_URL: "https://redis.example.com",
  UPSTASH_REDIS_REST_TOKEN: "token",
  QSTASH_URL: "https://queue.example.com",
  QSTASH_TOKEN: "token",
  QSTASH_CURRENT_SIGNING_KEY: "current",
  QSTASH_NEXT_SIGNING_KEY: "next",
  SIGNING_KEYS: JSON.stringify({ keys: [testKey] }),
  LOG_SIGNING_KEY: secrets["LOG_SIGNING_KEY"],
  DATA_ENCRYPTION_KEY: Buffer.alloc(32).toString("base64"),
  EMAIL_FROM: "screening@example.com",
  DNS_RESOLVER_URL: "https://dns.example.com/query",
});
/** The service's keys. */
export const KEYS = await loadSigningKeys(ENV.SIGNING_KEYS);
