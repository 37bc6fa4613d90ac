import { describe, expect, it } from "vitest";
import type { GraderVersion } from "../../../shared/grading/types.ts";
import { openaiChat } from "../../../shared/runs/protocols/openai-chat.ts";
import { jobOf, NO_OUTPUT, toolOf } from "./protocols-support.ts";

const JOB = jobOf({ tools: [toolOf("now")] });
const read = (body: unknown, rules?: GraderVersion) =>
  openaiChat.read(body, { ...JOB, ...(rules === undefined ? {} : { rules }) });
const answer = (parts: object) => ({ kind: "answer", answer: parts });
const completion = (message: object, rest: object = {}, finish_reason = "stop") => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason }],
  ...rest,
});

describe("a call without arguments, as Groq writes it, with the JSON of null", () => {
  const call = { id: "8arj4ctt1", type: "function", function: { name: "now", arguments: "null" } };
  const body = completion({ tool_calls: [call] }, {}, "tool_calls");

  it.each<[string, GraderVersion | undefined, unknown]>([
    ["has none", undefined, {}],
    ["is what it was until version 10 of the rules", "10", null],
  ])("%s", (_what, rules, value) => {
    expect(read(body, rules)).toEqual(answer({ tool_calls: [{ name: "now", arguments: value }] }));
  });
});

describe("usage", () => {
  const usedBy = (usage: object) => read(completion({ content: "42" }, { model: "m", usage }));
  const call = (told: object) => answer({ output: "42", usage: { calls: [{ model: "m", ...told }] } });

  it("of Perplexity costs its total, with the fee for each request", () => {
    const cost = {
      input_tokens_cost: 0.000_021,
      output_tokens_cost: 0.002_235,
      request_cost: 0.006,
      total_cost: 0.008_256,
    };
    const tokens = { prompt_tokens: 7, completion_tokens: 149, total_tokens: 156 };
    expect(usedBy({ ...tokens, search_context_size: "low", cost })).toEqual(
      call({ input_tokens: 7, output_tokens: 149, cost_usd: 0.008_256 }),
    );
  });

  const tokens = { prompt_tokens: 20, completion_tokens: 50 };
  const cached = { cache_read_input_tokens: 9000, cache_creation_input_tokens: 1000 };
  it.each<[string, object, number, number]>([
    ["is none of the output (Portkey's form)", { ...cached, total_tokens: 10_070 }, 10_020, 50],
    ["is not counted twice, where it is among the prompt", { ...cached, total_tokens: 70 }, 20, 50],
    ["leaves what was thought to the output, where that is told apart", { ...cached, total_tokens: 100 }, 20, 80],
    ["is none where it is no number", { cache_read_input_tokens: "9000", total_tokens: 9070 }, 20, 9050],
  ])("of a prompt read from a cache, beside the rest: %s", (_what, told, input_tokens, output_tokens) => {
    expect(usedBy({ ...tokens, ...told })).toEqual(call({ input_tokens, output_tokens }));
  });
});

describe("a choice without a word", () => {
  const ended = (reason: string, content: string | null, rules?: GraderVersion) =>
    read(completion({ content }, {}, reason), rules);

  it.each([
    ["Anthropic", "refusal"],
    ["Z.AI", "sensitive"],
    ["Bedrock", "guardrail_intervened"],
    ["Bedrock", "content_filtered"],
    ["Gemini", "SAFETY"],
    ["Gemini", "PROHIBITED_CONTENT"],
  ])("is refused where it ends as %s says it, through gateways that hand it on: %s", (_vendor, reason) => {
    expect(ended(reason, null)).toEqual(answer({ refused: true }));
    expect(ended(reason, "")).toEqual(answer({ output: "", refused: true }));
    expect(ended(reason, "Step one")).toEqual(answer({ output: "Step one" }));
    expect(ended(reason, null, "10")).toEqual(NO_OUTPUT);
    expect(ended(reason, "", "10")).toEqual(answer({ output: "" }));
  });

  it("is none where it ends otherwise", () => {
    expect(ended("MAX_TOKENS", null)).toMatchObject(NO_OUTPUT);
  });
});
