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
