import * as z from "zod";

/** JSON as an agent may send it. */
const Json = z.json();

/** What one model call used, as an agent reports it; judged when it is priced, not when it is read. */
export type Usage = z.output<typeof Json>;

/** An agent's answer, whatever protocol brought it. */
export interface Answer {
  output: z.output<typeof Json>;
  refused?: boolean;
  tool_calls?: { name: string; arguments: z.output<typeof Json> }[];
  usage?: Usage;
  /** The sweep result contract, by callback only. */
  serving_model?: string;
  input_tokens?: number;
  output_tokens?: number;
}

/** Why a run ended without a gradable answer; all but `service_error` are the agent's fault. */
export const FAILURE_CODES = [
  "agent_timeout",
  "agent_unreachable",
  "agent_tls_error",
  "agent_http_error",
  "agent_redirected",
  "agent_invalid_response",
  "agent_response_too_large",
  "agent_reported_failure",
  "endpoint_not_allowed",
  "service_error",
] as const;

/** A failure code of a run. */
export type FailureCode = (typeof FAILURE_CODES)[number];

/** What came of calling an agent: an answer, a promise to call back, or a failure. */
export type CallOutcome =
  | { kind: "answer"; answer: Answer; response: Uint8Array; latencyMs: number }
  | { kind: "callback"; latencyMs: number }
  | { kind: "failure"; code: FailureCode; detail: string; response: Uint8Array | null; latencyMs: number };
