import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Job } from "../../../shared/runs/job.ts";
import { functionNames } from "../../../shared/runs/protocols/function-names.ts";
import { openaiChat } from "../../../shared/runs/protocols/openai-chat.ts";
import { CALLBACK, flood, jobOf, NO_OUTPUT, toolOf, unfit } from "./protocols-support.ts";

const request = (task: Partial<Job["task"]>) => openaiChat.request(jobOf(task), CALLBACK);
const said = (content: string) => ({ model: "default", messages: [{ role: "user", content }], stream: false });

const ONE_TURN =
  "Tool calls bring no result back: make all that are needed in this one answer, in the order in which they are to happen.";
const object = { type: "object", properties: { sum: { type: "number" } } };
const list = { type: "array", items: { type: "string" } };

const wordsOf = (schema: object) =>
  `Add them.\n\nAnswer in JSON that is valid against this JSON Schema:\n${JSON.stringify(schema)}`;
const WIDE = {
  type: "object",
  required: ["uniqueItems"],
  // Names and values that are keywords elsewhere.
  properties: {
    uniqueItems: { $ref: "#/$defs/one", default: 1 },
    a: { type: ["array", "null"], items: object, maxItems: 2 },
  },
  additionalProperties: false,
  $defs: { one: { anyOf: [{ const: { not: 1 } }, { enum: ["oneOf"] }, { type: "integer", minimum: 1 }] } },
};

const TOKENS = { prompt_tokens: 194, completion_tokens: 2, total_tokens: 196 };
const UPSTREAM = { upstream_inference_cost: 0.5 };

describe("a chat completion is asked for", () => {
  it.each<[string, Partial<Job["task"]>, unknown]>([
    ["with the prompt as the user message", {}, said("Add them.")],
    ["with the input as JSON after it", { input: { items: [1, 2] } }, said('Add them.\n\ninput:\n{"items":[1,2]}')],
    ["with an input that is falsy", { input: 0 }, said("Add them.\n\ninput:\n0")],
    [
      "in JSON by words alone, where only the prompt knows whether a list or an object is wanted",
      { output_format: "json", input: [1] },
      said("Add them.\n\ninput:\n[1]\n\nAnswer in JSON alone."),
    ],
    [
      "by a schema, in words as well, since servers pass over the field",
      { output_format: "json", output_schema: object },
      {
        ...said(`Add them.\n\nAnswer in JSON that is valid against this JSON Schema:\n${JSON.stringify(object)}`),
        response_format: { type: "json_schema", json_schema: { name: "answer", schema: object } },
      },
    ],
    [
      "by a schema in words, where the API takes none because its root is no object",
      { output_format: "json", output_schema: list },
      said(`Add them.\n\nAnswer in JSON that is valid against this JSON Schema:\n${JSON.stringify(list)}`),
    ],
    [
      "by a schema that is true, in words too",
      { output_format: "json", output_schema: true },
      said("Add them.\n\nAnswer in JSON that is valid against this JSON Schema:\ntrue"),
    ],
    ...[
      { properties: { a: { type: "array", uniqueItems: true } } },
      { properties: { a: { type: "array", items: { type: "string", pattern: "[a-z]" } } } },
      { properties: { a: { anyOf: [{ type: "null" }, { type: "array", contains: { const: 1 } }] } } },
      { additionalProperties: { type: "string", format: "uri" } },
      { $defs: { a: { not: { const: 1 } } } },
      { properties: { a: { $ref: "#" } } },
      { properties: { a: true } },
      { properties: { a: { minimum: 1 } } },
      { properties: { a: { type: "string", maxLength: 1001 } } },
      { properties: { a: { type: "integer", anyOf: [{ const: 1 }, { const: 3 }] } } },
      { oneOf: [{ required: ["a"] }, { required: ["b"] }] },
    ].map((rest): [string, Partial<Job["task"]>, unknown] => [
      `by a schema in words, where servers refuse its keywords: ${JSON.stringify(rest)}`,
      { output_format: "json", output_schema: { type: "object", ...rest } },
      said(wordsOf({ type: "object", ...rest })),
    ]),
    [
      "by a schema of all that servers take",
      { output_format: "json", output_schema: WIDE },
      {
        ...said(wordsOf(WIDE)),
        response_format: { type: "json_schema", json_schema: { name: "answer", schema: WIDE } },
      },
    ],
    ["as text, whatever schema there is", { output_schema: object }, said("Add them.")],
    [
      "with tools as functions, and that there is no further turn",
      { output_format: "tool_calls", input: 0, tools: [toolOf("weather")] },
      { ...said(`Add them.\n\ninput:\n0\n\n${ONE_TURN}`), tools: [{ type: "function", function: toolOf("weather") }] },
    ],
    ["without an empty list of tools, which the API refuses", { tools: [] }, said("Add them.")],
  ])("%s", (_case, task, body) => {
    expect(request(task)).toEqual(body);
  });

  it("with another name for a tool whose own the API refuses", () => {
    const { tools } = request({ tools: [toolOf("weather.now"), toolOf("weather_now"), toolOf("weather")] });
    expect(tools).toMatchObject([
      { function: { name: "weather_now_2", description: "What weather.now does." } },
      { function: { name: "weather_now" } },
      { function: { name: "weather" } },
    ]);
  });

  it.each<[string, Record<string, string | boolean>]>([
    ["an empty one", {}],
    ["one of an object alone", { type: "object" }],
    ["one that forbids any", { additionalProperties: false }],
  ])("with the members that the API demands of the schema of a tool without arguments: %s", (_case, parameters) => {
    const { tools } = request({ tools: [{ ...toolOf("now"), parameters }] });
    expect(tools).toMatchObject([{ function: { parameters: { type: "object", properties: {}, ...parameters } } }]);
  });

  it("and answered at once", () => {
    expect(openaiChat.callsBack).toBe(false);
  });
});

describe("the function names of tools", () => {
  it.each([
    ["stand for themselves", ["a", "B-2_c", "x".repeat(64)], ["a", "B-2_c", "x".repeat(64)]],
    ["keep what the pattern takes", ["files/read", "wetter für", ""], ["files_read", "wetter_f_r", "_"]],
    ["are cut", ["y".repeat(65)], ["y".repeat(56)]],
    ["are told apart by a number", ["a.b", "a b", "a_b"], ["a_b_1", "a_b_2", "a_b"]],
  ])("%s", (_case, tools, names) => {
    expect([...functionNames(tools)]).toEqual(expect.arrayContaining(tools.map((tool, at) => [tool, names[at]])));
  });

  it("are ones that the API takes, and as many as there are tools, each tool's own wherever that will do", () => {
    const name = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom("a", "b", ".", "_", "1") }),
      fc.string({ minLength: 60 }),
    );
    fc.assert(
      fc.property(fc.array(name, { maxLength: 50 }), (tools) => {
        const names = functionNames(tools);
        expect(new Set(names.values()).size).toBe(new Set(tools).size);
        for (const [tool, given] of names) {
          expect(given).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
          if (/^[a-zA-Z0-9_-]{1,64}$/.test(tool)) expect(given).toBe(tool);
        }
      }),
    );
  });
});

const job = jobOf({ tools: [toolOf("weather.now"), toolOf("weather")] });
const read = (body: unknown) => openaiChat.read(body, job);
const completion = (message: unknown, rest: object = {}) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1795251600,
  choices: [{ index: 0, message, finish_reason: "stop", logprobs: null }],
  ...rest,
});
const assistant = { role: "assistant", content: "42", refusal: null };
const calling = (name: unknown, text: unknown) =>
  completion({
    ...assistant,
    content: null,
    tool_calls: [{ id: "call_1", type: "function", function: { name, arguments: text } }],
  });
const ended = (message: object, end: object) => ({
  choices: [{ index: 0, message: { role: "assistant", ...message }, ...end }],
});
const ofEmptyObjects = (count: number) => `[${Array.from({ length: count }, () => "{}").join()}]`;
const heldBack = (message: object) => ended(message, { finish_reason: "content_filter" });
const failed = (message: object) =>
  ended(message, { finish_reason: "error", error: { message: "No credit left", code: 402 } });
const called = (name: string, value: unknown) => ({ tool_calls: [{ name, arguments: value }] });

describe("a chat completion", () => {
  it.each<[string, unknown, unknown]>([
    ["of text", completion(assistant), { output: "42" }],
    ["of JSON is the text that the model wrote", completion({ content: '{"a":1}' }), { output: '{"a":1}' }],
    ["of empty text", completion({ content: "" }), { output: "" }],
    ["of a call", calling("weather", '{"city":"Bergen"}'), called("weather", { city: "Bergen" })],
    ["of a call by another name", calling("weather_now", "{}"), called("weather.now", {})],
    ["of a call of a tool that does not exist", calling("rain", "{}"), called("rain", {})],
    ["of a call without arguments", calling("weather", ""), called("weather", {})],
    [
      "of a call whose arguments are no text",
      calling("weather", { city: "Bergen" }),
      called("weather", { city: "Bergen" }),
    ],
    ["of a call whose arguments are null", calling("weather", null), called("weather", {})],
    ["of a call whose arguments are no object", calling("weather", "[1]"), called("weather", [1])],
    ["of a call whose arguments are not JSON", calling("weather", "{city:"), called("weather", "{city:")],
    [
      "of a call whose arguments reach for a prototype",
      calling("weather", '{"__proto__":{"a":1},"b":2}'),
      called("weather", { b: 2 }),
    ],
    [
      "of a call whose arguments nest too deep",
      calling("weather", `${"[".repeat(65)}${"]".repeat(65)}`),
      called("weather", `${"[".repeat(65)}${"]".repeat(65)}`),
    ],
    [
      "of text beside an empty list of calls",
      completion({ ...assistant, tool_calls: [] }),
      { output: "42", tool_calls: [] },
    ],
    [
      "of parts is their text, without the thoughts before it",
      completion({
        content: [
          { type: "thinking", thinking: [{ type: "text", text: "Is it 41?" }] },
          { type: "text", text: "4" },
          { type: "reference", reference_ids: [1] },
          { type: "text", text: "2" },
        ],
      }),
      { output: "42" },
    ],
    ["of thoughts alone", completion({ content: [{ type: "thinking", thinking: [] }] }), { output: "" }],
    ["of a refusal", completion({ content: null, refusal: "I won't." }), { output: "I won't.", refused: true }],
    ["of a refusal with text", completion({ content: "No.", refusal: "I won't." }), { output: "No.", refused: true }],
    ["that a filter held back", heldBack({ content: null }), { refused: true }],
    ["that a filter held back as empty text", heldBack({ content: "" }), { output: "", refused: true }],
    [
      "that a filter held back by its name",
      ended({ content: null }, { finish_reason: "content_filter: SAFETY" }),
      { refused: true },
    ],
    [
      "that a filter held back, the message with it",
      { choices: [{ index: 0, finish_reason: "content_filter: PROHIBITED_CONTENT" }] },
      { refused: true },
    ],
    ["that a filter cut off", heldBack({ content: "Step one" }), { output: "Step one" }],
    ["of text beside an error", failed({ content: "42" }), { output: "42" }],
    ["with further choices", { choices: [{ message: assistant }, 7] }, { output: "42" }],
  ])("%s", (_case, body, answer) => {
    expect(read(body)).toEqual({ kind: "answer", answer });
  });

  it.each<[string, object, unknown]>([
    [
      "one call of its model",
      { model: "gpt-4o", usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 } },
      { calls: [{ model: "gpt-4o", input_tokens: 12, output_tokens: 3 }] },
    ],
    [
      "what its model thought, where that is no part of its completion (Gemini's form)",
      { model: "gemini-2.5-flash", usage: { prompt_tokens: 17, completion_tokens: 2, total_tokens: 49 } },
      { calls: [{ model: "gemini-2.5-flash", input_tokens: 17, output_tokens: 32 }] },
    ],
    [
      "what its model thought, where that is told beside its completion (xAI's form)",
      {
        model: "grok-4",
        usage: {
          prompt_tokens: 32,
          completion_tokens: 9,
          total_tokens: 135,
          completion_tokens_details: { reasoning_tokens: 94 },
        },
      },
      { calls: [{ model: "grok-4", input_tokens: 32, output_tokens: 103 }] },
    ],
    [
      "nothing but what it read, where its completion has no tokens to tell of",
      { usage: { prompt_tokens: 8, total_tokens: 8 } },
      { calls: [{ model: null, input_tokens: 8, output_tokens: 0 }] },
    ],
    [
      "no less than its completion, whatever the total is",
      { usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: 0 } },
      { calls: [{ model: null, input_tokens: 12, output_tokens: 3 }] },
    ],
    [
      "what its completion says, where the total is no number",
      { usage: { prompt_tokens: 12, completion_tokens: 3, total_tokens: "15" } },
      { calls: [{ model: null, input_tokens: 12, output_tokens: 3 }] },
    ],
    [
      "what can't be priced, as it is",
      { model: 5, usage: { prompt_tokens: "12" } },
      { calls: [{ model: 5, input_tokens: "12", output_tokens: null }] },
    ],
    [
      "a call without a model",
      { usage: { prompt_tokens: 1, completion_tokens: 2 } },
      { calls: [{ model: null, input_tokens: 1, output_tokens: 2 }] },
    ],
    [
      "what its gateway charged (OpenRouter's form)",
      { model: "meta-llama/llama-4-scout", usage: { ...TOKENS, cost: 0.00014, cost_details: UPSTREAM } },
      { calls: [{ model: "meta-llama/llama-4-scout", input_tokens: 194, output_tokens: 2, cost_usd: 0.00014 }] },
    ],
    [
      "what its gateway and the provider behind it charged, where the key is the agent's own",
      { model: "m", usage: { ...TOKENS, cost: 0.25, is_byok: true, cost_details: UPSTREAM } },
      { calls: [{ model: "m", input_tokens: 194, output_tokens: 2, cost_usd: 0.75 }] },
    ],
    [
      "what xAI charged, in its ticks",
      { model: "grok-4.5", usage: { ...TOKENS, num_sources_used: 3, cost_in_usd_ticks: 37_756_000 } },
      { calls: [{ model: "grok-4.5", input_tokens: 194, output_tokens: 2, cost_usd: 0.003_775_6 }] },
    ],
    ...[
      { cost: "0.25" },
      { cost: { request_cost: 0.25 } },
      { cost_in_usd_ticks: null },
      { cost: 0.25, is_byok: true },
    ].map((told): [string, object, unknown] => [
      `no cost that is not told as a whole: ${JSON.stringify(told)}`,
      { model: "m", usage: { ...TOKENS, ...told } },
      { calls: [{ model: "m", input_tokens: 194, output_tokens: 2 }] },
    ]),
    ["nothing where usage is null", { model: "gpt-4o", usage: null }, undefined],
    ["nothing where usage is no object", { model: "gpt-4o", usage: [1] }, undefined],
    ["nothing where there is none", { model: "gpt-4o" }, undefined],
  ])("used %s", (_case, rest, usage) => {
    const answer = { output: "42", ...(usage === undefined ? {} : { usage }) };
    expect(read(completion(assistant, rest))).toEqual({ kind: "answer", answer });
  });

  it.each<[string, unknown, unknown]>([
    ["null", null, unfit("")],
    ["a list", [completion(assistant)], unfit("")],
    ["no choices", { model: "gpt-4o" }, unfit("choices")],
    ["choices that are no list", { choices: { 0: { message: assistant } } }, unfit("choices")],
    ["an empty list of choices", { choices: [] }, unfit("choices")],
    ["a choice without a message", { choices: [{ text: "42" }] }, unfit("choices.0.message")],
    [
      "a choice without a message that no filter held back",
      { choices: [{ message: null, finish_reason: "content_filters" }] },
      unfit("choices.0.message"),
    ],
    ["content that is no text", completion({ content: 42 }), unfit("choices.0.message.content")],
    ["parts that are none", completion({ content: ["42"] }), unfit("choices.0.message.content")],
    ["1 MiB of what are no parts", completion({ content: flood("0") }), unfit("choices.0.message.content")],
    ["a refusal that is no text", completion({ refusal: true }), unfit("choices.0.message.refusal")],
    ["nothing said", completion({ role: "assistant" }), NO_OUTPUT],
    ["null said", completion({ content: null, refusal: null, tool_calls: null }), NO_OUTPUT],
    ["null said and an empty refusal", completion({ content: null, refusal: "" }), NO_OUTPUT],
    [
      "null said at the limit of tokens",
      ended({ content: null }, { finish_reason: "length" }),
      { ...NO_OUTPUT, detail: expect.stringContaining("limit of tokens") },
    ],
    [
      "null said and an error without words",
      ended({ content: null }, { finish_reason: "error", error: { code: 502 } }),
      NO_OUTPUT,
    ],
    ["a call without a function", completion({ tool_calls: [{}] }), unfit("choices.0.message.tool_calls.0.function")],
    ["a call without a name", calling(null, "{}"), unfit("choices.0.message.tool_calls.0.function.name")],
    ["a call of nothing", calling("weather", undefined), unfit("choices.0.message.tool_calls.0.function.arguments")],
    ["1 MiB of what are no calls", completion({ tool_calls: flood("0") }), unfit("choices.0.message.tool_calls")],
    ["1 MiB of what are no choices", { choices: flood("0") }, unfit("choices.0")],
    ["an error without words", { error: { code: 500 } }, unfit("choices")],
    ["a message that no code says to be an error", { message: "42" }, unfit("choices")],
  ])("of %s is refused", (_case, body, reading) => {
    expect(read(body)).toEqual(reading);
  });

  it.each<[string, unknown]>([
    ["the API's form", { error: { message: "No credit left\u0000", code: 402 } }],
    ["words alone", { error: "No credit left" }],
    ["OpenRouter's form", { error: { message: "", code: 402, metadata: { raw: '{"error":"No credit left"}' } } }],
    ["words beside a code (RAGFlow's form)", { code: 102, message: "No credit left" }],
    ["a choice that says nothing", failed({ content: "" })],
    ["a choice of null", failed({ content: null })],
    ["the API's form beside no choices", { choices: [], error: { message: "No credit left" } }],
  ])("that is an error in %s is the agent's failure, in its words", (_case, body) => {
    const detail = "The agent answered with an error: No credit left";
    expect(read(body)).toEqual({ kind: "failure", code: "agent_reported_failure", detail });
  });

  it("has no more items and members in the arguments of all its calls than JSON from a stranger may have", () => {
    const texts = [30_000, 20_001, 1].map(ofEmptyObjects);
    const tool_calls = texts.map((text) => ({ function: { name: "weather", arguments: text } }));
    const made = [expect.any(Array), texts[1], texts[2]].map((value: unknown) => ({
      name: "weather",
      arguments: value,
    }));
    expect(read(completion({ content: null, tool_calls }))).toEqual({ kind: "answer", answer: { tool_calls: made } });
  });

  it("is what its first choice says, whatever error stands beside it", () => {
    expect(read(completion(assistant, { error: { message: "no" } }))).toMatchObject({ answer: { output: "42" } });
  });

  it("is read or refused whatever stands in a message, and never thrown at", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (message, usage) => {
        expect(["answer", "failure"]).toContain(read(message).kind);
        expect(["answer", "failure"]).toContain(read(completion(message, { usage })).kind);
      }),
    );
  });
});
