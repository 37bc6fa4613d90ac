import type { Span } from "../../../shared/telemetry/trace.ts";

/** A run, and the span id that its `traceparent` gave the agent as the parent of all it does. */
export const RUN = "01980000-0000-7000-8000-000000000001";
export const SENT = "8000000000000001";

type What = Partial<Span> & Pick<Span, "kind" | "name">;

/** The id of the span number `at`; that of the run itself for -1. */
export const inner = (at: number): string => (at < 0 ? SENT : at.toString(16).padStart(16, "0"));

/** The span number `at` of a trace. */
export function span(at: number, parent: string | null, what: What): Span {
  return {
    span_id: inner(at),
    parent_span_id: parent,
    scope: null,
    provider: null,
    model: null,
    input_tokens: null,
    output_tokens: null,
    cost_usd: null,
    started_at: 1_764_000_000,
    duration_ms: 1000,
    ...what,
  };
}

export const model = (name: string | null, provider: string | null = null, usage: Partial<Span> = {}): What => ({
  kind: "model",
  name: "chat",
  model: name,
  provider,
  ...usage,
});
export const tool = (name: string): What => ({ kind: "tool", name });
export const other = (name: string): What => ({ kind: "other", name });
