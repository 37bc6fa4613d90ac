import * as z from "zod";
import { type ExactJson, stringifyExact } from "../platform/exact-json.ts";
import { LIMITS } from "./limits.ts";

/** Any JSON, but present. Every value was parsed from JSON, and `z.json()` takes 100 MB to find that out about 1 MiB. */
export const Json = z.custom<z.output<ReturnType<typeof z.json>>>((value) => value !== undefined);

/** As `Json`, but whole numbers beyond 2^53 may be bigints. */
export const AnswerJson = z.custom<ExactJson>((value) => value !== undefined);

/** An agent's answer, whatever protocol brought it. */
export const Answer = z.object({
  /** Missing where none came; null is an answer of its own. */
  output: AnswerJson.exactOptional(),
  refused: z.boolean().exactOptional(),
  tool_calls: z.array(z.object({ name: z.string(), arguments: AnswerJson })).exactOptional(),
  /** Judged when it is priced, not when it is read. */
  usage: AnswerJson.exactOptional(),
  /** The sweep result contract, by callback only. */
  serving_model: z.string().exactOptional(),
  input_tokens: z.number().exactOptional(),
  output_tokens: z.number().exactOptional(),
});
export type Answer = z.output<typeof Answer>;

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

/** Shorter ones can't become too long: numbers are written out, and the calls in a text of A2A are kept beside it. */
const MAY_BE_LONG = LIMITS.responseBytes / 8;

/**
 * The outcome, unless its answer would be kept as more text than an answer may have. The database could not give that in
 * one answer, and the agent would have its run end as our fault.
 */
export function asKept(outcome: Extract<CallOutcome, { kind: "answer" }>): CallOutcome {
  const { answer, response, latencyMs } = outcome;
  if (response.length < MAY_BE_LONG || stringifyExact(answer).length <= LIMITS.responseBytes) return outcome;
  const detail = `What is read of the answer is longer than ${LIMITS.responseBytes} characters.`;
  return { kind: "failure", code: "agent_response_too_large", detail, response, latencyMs };
}
