import { describe, expect, test } from "vitest";
import type { Answer } from "../../../shared/runs/answer.ts";
import { assess } from "../../../shared/runs/assess.ts";
import type { Answered } from "../../../shared/runs/load-answered.ts";
import { observe } from "../../../shared/runs/observe.ts";
import type { Span } from "../../../shared/telemetry/trace.ts";
import { inner, model, RUN, SENT, span, tool } from "../telemetry/spans.ts";

const PROMPT = "How many?";

/** A run whose agent gave this answer, or none, and sent these spans. */
function assessed(answer: Partial<Answer> | null, spans: Span[]) {
  const answered: Answered = {
    run: {
      id: RUN,
      agent_id: RUN,
      trigger: "manual",
      simulated: false,
      is_private: false,
      is_held: false,
      screening_session_id: null,
      repeat_index: null,
      repeat_total: null,
      started_at: "2026-11-21T09:00:00.000Z",
      latency_ms: 100,
      failure_code: answer === null ? "agent_timeout" : null,
    },
    agent: { name: "A", connection_mode: "http_endpoint", agent_protocol: "native" },
    task: {
      id: RUN,
      domain: "math",
      suite_id: null,
      suite_version: null,
      is_secret: false,
      prompt: PROMPT,
      input: null,
      grader: { type: "exact" },
      expected_output: "42",
      output_schema: null,
      pass_threshold: 1,
      reference_cost_usd: 0.01,
      reference_latency_ms: 1000,
      expected_tool_calls: 1,
    },
    is_apart: false,
    answer: answer === null ? null : JSON.stringify({ output: "42", ...answer }),
    commitments: { request: null, response: null },
    telemetry: { spans, versions: [] },
    minted: null,
  };
  const { cost, ...rest } = assess(answered, observe(answered));
  return { ...rest, ...cost };
}

const used = (input_tokens: number, output_tokens: number, cost_usd: number | null = null) =>
  model("gpt-5-mini", "openai", { input_tokens, output_tokens, cost_usd });
const dear = [span(0, SENT, used(500, 50, 9)), span(1, SENT, tool("t")), span(2, SENT, tool("t"))];
const call = { model: "m", cost_usd: 0.001 };

describe("the evidence of a run", () => {
  test.each<[string, Partial<Answer> | null, Span[], object]>([
    [
      "is that of the answer where it lists calls",
      {
        usage: { calls: [{ ...call, input_tokens: 1, output_tokens: 2 }] },
        tool_calls: [{ name: "t", arguments: {} }],
      },
      dear,
      {
        evidence_cost_usd: 0.001,
        evidence_total_call_count: 1,
        serving_model: "m",
        input_tokens: 1,
        tool_calls_made: 1,
      },
    ],
    [
      "is that of the answer where its calls have no price",
      { usage: { calls: [{ model: "m" }] } },
      dear,
      { evidence_cost_usd: null, evidence_cost_source: "unpriced", evidence_cost_partial: true },
    ],
    [
      "takes from spans the tokens that the answer's calls don't tell",
      { usage: { calls: [call] } },
      dear,
      { evidence_cost_usd: 0.001, serving_model: "m", input_tokens: 500, output_tokens: 50 },
    ],
    [
      "takes no model from spans where the answer lists calls of several",
      { usage: { calls: [call, { model: "n" }] } },
      dear,
      { serving_model: null },
    ],
    [
      "is the answer's total, and spans tell model and tokens",
      { usage: { cost_usd: 0.003 } },
      dear,
      {
        evidence_cost_usd: 0.003,
        evidence_cost_source: "runner_aggregate",
        evidence_total_call_count: 0,
        total_cost_usd: 0.003,
        serving_model: "gpt-5-mini",
        input_tokens: 500,
      },
    ],
    [
      "is that of spans where the answer's total is no amount",
      { usage: { cost_usd: -1 } },
      dear,
      { evidence_cost_usd: 9, evidence_cost_source: "self_reported" },
    ],
    [
      "is that of spans where the answer says nothing, priced from tokens",
      {},
      [span(0, SENT, used(1_000_000, 0)), span(1, SENT, model("no such model"))],
      {
        evidence_cost_source: "estimated",
        evidence_priced_call_count: 1,
        evidence_unpriced_call_count: 1,
        evidence_cost_partial: true,
        serving_model: null,
      },
    ],
    [
      "counts a call that several layers saw once",
      {},
      [span(0, SENT, used(10, 1, 0.5)), span(1, inner(0), used(10, 1, 0.5))],
      { evidence_cost_usd: 0.5, evidence_total_call_count: 1, input_tokens: 10 },
    ],
    ["counts traced tool calls where the answer has none", {}, dear, { tool_calls_made: 2, passed: true }],
    ["counts the answer's tool calls, be they none", { tool_calls: [] }, dear, { tool_calls_made: 0 }],
    ["is unavailable without either", {}, [], { evidence_cost_source: "unavailable", tool_calls_made: 0 }],
    [
      "is that of spans where no answer came",
      null,
      dear,
      { status: "failed", evidence_cost_usd: 9, tool_calls_made: null, passed: false },
    ],
    [
      "goes by the sweep result before spans",
      { serving_model: "swept", input_tokens: 7 },
      dear,
      { serving_model: "swept", input_tokens: 7, output_tokens: 50 },
    ],
    [
      "has no project before the swept model",
      { serving_model: "projects/acme/locations/eu/endpoints/7" },
      [],
      { serving_model: "endpoints/7" },
    ],
  ])("%s", (_case, answer, spans, expected) => {
    expect(assessed(answer, spans)).toMatchObject(expected);
  });
});
