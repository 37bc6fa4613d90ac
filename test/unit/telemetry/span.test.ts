import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readSpans } from "../../../shared/telemetry/body.ts";
import { normalise, type Span } from "../../../shared/telemetry/span.ts";
import { attributesOf, jsonRequest, type OtlpSpan, protobufRequest, spanOf } from "./otlp.ts";

/** What is kept of a span that arrives as protobuf; null where it is malformed. */
function kept(fields: Partial<OtlpSpan>): Span | null {
  const [sent] = readSpans(protobufRequest([spanOf(fields)]), { encoding: undefined, protobuf: true });
  if (sent === undefined) throw new Error("the span was lost");
  return normalise(sent);
}

/** As `kept`, in JSON, which can hold what protobuf can't. */
function keptOfJson(fields: object): Span | null {
  const body = new TextEncoder().encode(jsonRequest([{ ...spanOf(), ...fields }]));
  const [sent] = readSpans(body, { encoding: undefined, protobuf: false });
  if (sent === undefined) throw new Error("the span was lost");
  return normalise(sent);
}

const withAttributes = (values: Record<string, string | number>, name = "the span") =>
  kept({ name, attributes: attributesOf(values) });

describe("a span's kind", () => {
  test.each<[Span["kind"], Record<string, string | number>]>([
    ["model", { "gen_ai.operation.name": "chat" }],
    ["model", { "gen_ai.operation.name": "text_completion" }],
    ["model", { "gen_ai.operation.name": "generate_content" }],
    ["model", { "gen_ai.operation.name": "embeddings" }],
    ["tool", { "gen_ai.operation.name": "execute_tool" }],
    ["agent", { "gen_ai.operation.name": "invoke_agent" }],
    ["agent", { "gen_ai.operation.name": "create_agent" }],
    ["agent", { "gen_ai.operation.name": "invoke_workflow", "gen_ai.usage.input_tokens": 5 }],
    ["other", { "gen_ai.operation.name": "retrieval", "gen_ai.request.model": "m", "gen_ai.data_source.id": "d" }],
    ["other", { "gen_ai.operation.name": "search_memory", "gen_ai.agent.name": "a" }],
    ["other", { "gen_ai.operation.name": "delete_memory_store", "gen_ai.agent.name": "a" }],
    ["other", { "gen_ai.operation.name": "plan", "gen_ai.agent.name": "a" }],
    ["other", { "gen_ai.operation.name": "execute_task", "gen_ai.request.model": "m", "gen_ai.agent.name": "a" }],
    ["other", { "gen_ai.operation.name": "user_prompt_processing", "gen_ai.request.model": "m" }],
    ["other", { "gen_ai.operation.name": "tool_coordination", "gen_ai.request.model": "m" }],
    ["other", { "gen_ai.operation.name": "conversation", "gen_ai.agent.name": "a", "gen_ai.request.model": "m" }],
    ["model", { "gen_ai.operation.name": "chat", "gen_ai.tool.name": "t", "gen_ai.agent.name": "a" }],
    ["agent", { "gen_ai.operation.name": "invoke_agent", "gen_ai.request.model": "m" }],
    ["model", { "gen_ai.operation.name": "of_next_year", "gen_ai.request.model": "m" }],
    ["model", { "openinference.span.kind": "LLM" }],
    ["model", { "openinference.span.kind": "EMBEDDING" }],
    ["tool", { "openinference.span.kind": "TOOL" }],
    ["agent", { "openinference.span.kind": "AGENT" }],
    ["other", { "openinference.span.kind": "CHAIN", "llm.model_name": "m" }],
    ["tool", { "traceloop.span.kind": "tool" }],
    ["agent", { "traceloop.span.kind": "agent" }],
    ["other", { "traceloop.span.kind": "workflow" }],
    ["model", { "llm.request.type": "chat" }],
    ["model", { "llm.request.type": "completion", "llm.request.model": "m" }],
    ["tool", { "gen_ai.tool.name": "t", "gen_ai.request.model": "m", "gen_ai.agent.name": "a" }],
    ["tool", { "ai.toolCall.name": "t" }],
    ["model", { "ai.operationId": "ai.embed.doEmbed", "ai.model.id": "m" }],
    ["model", { "ai.operationId": "ai.embedMany.doEmbed", "ai.model.id": "m", "ai.usage.tokens": 5 }],
    ["other", { "ai.operationId": "ai.embed", "ai.model.id": "m", "ai.usage.tokens": 5 }],
    ["other", { "ai.operationId": "ai.generateText", "ai.model.id": "m" }],
    ["other", { "ai.operationId": "ai.rerank", "ai.model.id": "m" }],
    ["other", { "ai.operationId": "ai.rerank.doRerank", "ai.model.id": "m" }],
    ["other", { "gen_ai.operation.name": "rerank", "gen_ai.request.model": "m" }],
    ["model", { "ai.operationId": "ai.streamText.doStream", "ai.model.id": "m", "gen_ai.request.model": "m" }],
    ["tool", { "ai.operationId": "ai.toolCall", "ai.toolCall.name": "t" }],
    ["tool", { "gen_ai.operation.name": "framework", "spring.ai.kind": "tool_call" }],
    ["other", { "gen_ai.operation.name": "framework", "spring.ai.kind": "chat_client" }],
    ["model", { "gen_ai.operation.name": "chat", "langsmith.span.kind": "llm" }],
    ["other", { "gen_ai.operation.name": "chat", "langsmith.span.kind": "prompt" }],
    ["other", { "gen_ai.operation.name": "embeddings", "langsmith.span.kind": "retriever" }],
    ["other", { "gen_ai.operation.name": "chain", "langsmith.span.kind": "chain", "gen_ai.usage.input_tokens": 5 }],
    ["other", { "gen_ai.operation.name": "parser", "langsmith.span.kind": "parser", "gen_ai.usage.input_tokens": 5 }],
    ["model", { "gen_ai.operation.name": "chat", "traceloop.span.kind": "task", "gen_ai.request.model": "m" }],
    ["agent", { "gen_ai.operation.name": "invoke_agent", "traceloop.span.kind": "workflow", "gen_ai.agent.name": "a" }],
    ["other", { "gen_ai.operation.name": "invoke_agent", "traceloop.span.kind": "task" }],
    ["model", { "traceloop.span.kind": "task", "llm.request.type": "chat", "gen_ai.request.model": "m" }],
    ["other", { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "(merged tools)" }],
    ["model", { "gen_ai.request.model": "m", "gen_ai.agent.name": "a" }],
    ["model", { "gen_ai.usage.input_tokens": 0 }],
    ["tool", { "span.type": "tool", tool_name: "Bash" }],
    ["other", { "span.type": "tool.execution", duration_ms: 5 }],
    ["other", { "span.type": "interaction", user_prompt: "<REDACTED>" }],
    ["model", { "span.type": "llm_request", "gen_ai.request.model": "m", input_tokens: 2, output_tokens: 5 }],
    ["other", { input_tokens: 2, output_tokens: 5 }],
    ["other", { "gen_ai.agent.name": "a" }],
    ["other", { "gen_ai.agent.name": "a", "http.request.method": "POST" }],
    ["agent", { "gen_ai.agent.name": "a", "gen_ai.usage.input_tokens": 5 }],
    ["other", { "http.request.method": "POST" }],
    ["other", { "gen_ai.operation.name": "constructor", "openinference.span.kind": "__proto__" }],
    ["other", {}],
  ])("is %s for %j", (kind, attributes) => {
    expect(withAttributes(attributes)?.kind).toBe(kind);
  });
});

test.each<[Span["kind"], string]>([
  ["model", "openclaw.model.call"],
  ["other", "openclaw.model.usage"],
])("is %s for %s of OpenClaw, which tells of each call and of their sum", (kind, name) => {
  const attributes = { "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 5 };
  expect(withAttributes(attributes, name)?.kind).toBe(kind);
});

const ARN = "arn:aws:bedrock:us-east-1:123456789012:";

describe("the conventions, current and legacy", () => {
  test.each<[keyof Span, string | number | null, Record<string, string | number>]>([
    ["provider", "p", { "gen_ai.provider.name": "p", "gen_ai.system": "old" }],
    ["provider", "p", { "gen_ai.system": "p" }],
    ["provider", "p", { "llm.provider": "p", "llm.system": "q" }],
    ["provider", "p", { "llm.system": "p" }],
    ["provider", "p", { "llm.vendor": "p" }],
    ["provider", "p", { "gen_ai.model.provider": "p" }],
    ["model", "m", { "gen_ai.request.model": "asked", "gen_ai.response.model": "m" }],
    ["model", "m", { "gen_ai.request.model": "m" }],
    ["model", "m", { "gen_ai.request.model": "m", "gen_ai.response.model": " \t" }],
    ["model", "m", { "gen_ai.request.model": "m", "gen_ai.response.model": "none" }],
    ["model", "us.amazon.nova-pro-v1:0", { "gen_ai.request.model": `${ARN}inference-profile/us.amazon.nova-pro-v1:0` }],
    ["model", "application-inference-profile/x", { "gen_ai.request.model": `${ARN}application-inference-profile/x` }],
    ["model", "google/m", { "gen_ai.request.model": "projects/acme/locations/eu/publishers/google/models/m" }],
    ["model", "my/projects/m", { "gen_ai.request.model": "my/projects/m" }],
    ["model", "m", { "llm.response.model": "m", "llm.request.model": "asked" }],
    ["model", "m", { "llm.request.model": "m" }],
    ["model", "m", { "llm.model_name": "m" }],
    ["model", "m", { "llm.response.model_name": "m", "llm.model_name": "n" }],
    ["model", "m", { "embedding.model_name": "m" }],
    ["model", "m", { "ai.model.id": "m" }],
    ["provider", "p", { "ai.model.provider": "p" }],
    ["input_tokens", 5, { "ai.usage.tokens": 5 }],
    ["input_tokens", 5, { "gen_ai.usage.input_tokens": 5, "gen_ai.usage.prompt_tokens": 6 }],
    ["input_tokens", 5, { "gen_ai.usage.prompt_tokens": 5 }],
    ["input_tokens", 5, { "llm.usage.prompt_tokens": 5 }],
    ["input_tokens", 5, { "usage.prompt_tokens": 5 }],
    ["input_tokens", 5, { "llm.token_count.prompt": 5 }],
    ["input_tokens", 5, { "gen_ai.usage.input_tokens": "5" }],
    ["input_tokens", 0, { "gen_ai.usage.input_tokens": 0, "gen_ai.usage.prompt_tokens": 6 }],
    ["input_tokens", 5, { input_tokens: 5 }],
    ["input_tokens", 91_660, { input_tokens: 2, cache_read_tokens: 84_562, cache_creation_tokens: 7096 }],
    ["input_tokens", 5, { "gen_ai.usage.input_tokens": 5, input_tokens: 2, cache_read_tokens: 3 }],
    ["input_tokens", null, { cache_read_tokens: 3 }],
    ["input_tokens", null, { input_tokens: 1_000_000_000, cache_read_tokens: 1 }],
    ["output_tokens", 5, { output_tokens: 5 }],
    ["output_tokens", 5, { "gen_ai.usage.output_tokens": 5, "gen_ai.usage.completion_tokens": 6 }],
    ["output_tokens", 5, { "gen_ai.usage.completion_tokens": 5 }],
    ["output_tokens", 5, { "llm.usage.completion_tokens": 5 }],
    ["output_tokens", 5, { "usage.completion_tokens": 5 }],
    ["output_tokens", 5, { "llm.token_count.completion": 5 }],
    ["cost_usd", 0.25, { "gen_ai.usage.cost": 0.25, "llm.cost.total": 1 }],
    ["cost_usd", 0.25, { "llm.cost.total": 0.25 }],
    ["cost_usd", 1.23457e-7, { "llm.cost.total": 1.23456789012345e-7 }],
    ["cost_usd", 0, { "llm.cost.total": 1.2345678901e-307 }],
    ["cost_usd", 0.25, { "operation.cost": 0.25 }],
    ["cost_usd", 0.25, { "gen_ai.cost.total_cost": 0.25, "gen_ai.cost.input_cost": 0.2 }],
    ["cost_usd", 0.25, { "litellm.cost.total": 0.25, "litellm.cost.guardrail": 1 }],
    ["cost_usd", 0.25, { "gen_ai.usage.total_cost": 0.25 }],
    ["cost_usd", 3, { "gen_ai.usage.cost": 3 }],
    ["operation", "chat", { "gen_ai.operation.name": "chat" }],
    ["name", "t", { "gen_ai.tool.name": "t", "tool.name": "u" }],
    ["name", "t", { "tool.name": "t" }],
    ["name", "t", { tool_name: "t" }],
    ["name", "t", { "ai.toolCall.name": "t" }],
    ["name", "t", { "spring.ai.kind": "tool_call", "spring.ai.tool.definition.name": "t" }],
    ["name", "t", { "traceloop.span.kind": "tool", "traceloop.entity.name": "t" }],
    ["name", "a", { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a" }],
    ["name", "a", { "openinference.span.kind": "AGENT", "agent.name": "a" }],
    ["name", "w", { "gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "w" }],
    ["name", "the span", { "gen_ai.operation.name": "execute_tool" }],
    ["name", "the span", { "gen_ai.operation.name": "chat", "gen_ai.tool.name": "t", "gen_ai.agent.name": "a" }],
  ])("give %s %j for %j", (field, expected, attributes) => {
    expect(withAttributes(attributes)?.[field]).toBe(expected);
  });

  test("give null for what a span does not say", () => {
    expect(withAttributes({})).toMatchObject({
      parent_span_id: null,
      operation: null,
      provider: null,
      model: null,
      input_tokens: null,
      output_tokens: null,
      cost_usd: null,
      failed: false,
    });
  });
});

describe("a figure that can't be true", () => {
  test.each<[string | number]>([[-1], [1.5], [1_000_000_001], ["1.5"], ["1e3"], ["null"], [2 ** 53]])(
    "is no token count: %o",
    (tokens) => {
      expect(withAttributes({ "gen_ai.usage.input_tokens": tokens })?.input_tokens).toBeNull();
      expect(withAttributes({ "gen_ai.usage.input_tokens": tokens, "usage.prompt_tokens": 3 })?.input_tokens).toBe(3);
    },
  );

  test.each<[string | number]>([[-0.01], [1_000_000.5], [Number.NaN], [Number.POSITIVE_INFINITY], ["0.5"]])(
    "is no cost: %o",
    (cost) => {
      const value = typeof cost === "string" ? { stringValue: cost } : { doubleValue: cost };
      expect(kept({ attributes: [{ key: "gen_ai.usage.cost", value }] })?.cost_usd).toBeNull();
    },
  );
});

describe("a text", () => {
  test("keeps at most 120 characters, whole, without control characters, whatever was sent", () => {
    const unit = fc.constantFrom("a", " ", "\n", "\0", "\u0085", "é", "😀", "👩‍🚀");
    const raw = fc.string({ unit, maxLength: 150, size: "max" });
    fc.assert(
      fc.property(raw, raw, (name, model) => {
        const span = kept({ name, attributes: attributesOf({ "gen_ai.request.model": model }) });
        return [span?.name, span?.model ?? "none"].every((text) => /^(?:(?!\p{Cc})\P{Cs}){1,120}$/u.test(text ?? ""));
      }),
    );
  });

  test.each([
    [" \n chat\u0000\r\ngpt\t", "chat gpt"],
    [`${"x".repeat(119)}😀😀`, `${"x".repeat(119)}😀`],
    ["\ud800 lone", "\ufffd lone"],
    ["\u0007", "other"],
  ])("%j becomes %j", (name, expected) => {
    expect(keptOfJson({ name })?.name).toBe(expected);
  });
});

describe("a failure", () => {
  test.each<[boolean, Partial<OtlpSpan>]>([
    [true, { status: { code: 2 } }],
    [true, { attributes: attributesOf({ "error.type": "timeout" }) }],
    [false, { status: { code: 1 }, attributes: attributesOf({ "error.type": "" }) }],
    [false, { status: { code: 0, message: "error" } }],
    [false, {}],
  ])("is %s for %o", (failed, fields) => {
    expect(kept(fields)?.failed).toBe(failed);
  });
});

describe("a span", () => {
  test("has its times to the microsecond and its duration to the nanosecond", () => {
    const times = { startTimeUnixNano: "1764000000123456789", endTimeUnixNano: "1764000000123456790" };
    expect(kept(times)).toMatchObject({ duration_ms: 0.000001 });
    expect(kept({ ...times, endTimeUnixNano: times.startTimeUnixNano })?.duration_ms).toBe(0);
  });

  test("names its parent, and a root none", () => {
    expect(kept({ parentSpanId: "00f067aa0ba902b7" })?.parent_span_id).toBe("00f067aa0ba902b7");
    for (const parentSpanId of ["", "0000000000000000"]) expect(kept({ parentSpanId })?.parent_span_id).toBeNull();
  });

  test.each<[string, object]>([
    ["a trace id of 15 bytes", { traceId: "ab".repeat(15) }],
    ["a trace id of 17 bytes", { traceId: "ab".repeat(17) }],
    ["a trace id of a megabyte", { traceId: "ab".repeat(1_000_000) }],
    ["a trace id of zeros", { traceId: "0".repeat(32) }],
    ["a trace id in base64", { traceId: "AZOOegAAcACAAAAAAAAAqw==" }],
    ["no trace id", { traceId: undefined }],
    ["a span id of zeros", { spanId: "0".repeat(16) }],
    ["a span id that is no text", { spanId: 12 }],
    ["a span id of 7 bytes", { spanId: "ab".repeat(7) }],
    ["a parent id of 7 bytes", { parentSpanId: "ab".repeat(7) }],
    ["no start", { startTimeUnixNano: undefined }],
    ["no end", { endTimeUnixNano: undefined }],
    ["an end before its start", { startTimeUnixNano: "1764000000000000001", endTimeUnixNano: "1764000000000000000" }],
  ])("with %s is malformed", (_what, fields) => {
    expect(keptOfJson(fields)).toBeNull();
  });
});
