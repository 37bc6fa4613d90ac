import { describe, expect, it } from "vitest";
import type { Job } from "../../../shared/runs/job.ts";
import { a2a } from "../../../shared/runs/protocols/a2a.ts";
import { CALLBACK, jobOf, RUN_ID, toolOf } from "./protocols-support.ts";

// An agent whose server hands it the text of a message alone, and sends back text alone.
const JOB = jobOf({ input: { city: "Bergen" }, output_format: "tool_calls", tools: [toolOf("weather.now")] });
const CALLS = [{ name: "weather.now", arguments: { city: "Bergen" } }];
const WRITTEN = JSON.stringify({ tool_calls: CALLS });
const IN_WORDS =
  "You have these tools, but can't call them: write down all calls that are needed, in the order in which they are to happen. " +
  'No result comes back. Answer in JSON alone: {"tool_calls": [{"name": "…", "arguments": {…}}]}';

const text = (words: string) => ({ kind: "text", text: words });
const data = (value: object) => ({ kind: "data", data: value });
const thought = { ...text("Which city?"), metadata: { adk_thought: true } };

const read = (parts: object[], job: Job & { rules?: "9" } = JOB) =>
  a2a.read({ jsonrpc: "2.0", id: RUN_ID, result: { kind: "message", role: "agent", messageId: "m", parts } }, job);

describe("an agent that is given the text alone", () => {
  it("is offered the tools in words, as others in data", () => {
    const parts = [
      text("Add them."),
      data({ city: "Bergen" }),
      data({ output_format: "tool_calls", tools: [toolOf("weather.now")] }),
      text(`input:\n{"city":"Bergen"}\n\n${IN_WORDS}\n${JSON.stringify([toolOf("weather.now")])}`),
    ];
    expect(a2a.request(JOB, CALLBACK)).toMatchObject({ params: { message: { parts } } });
  });

  it.each<[string, object[], object]>([
    ["in JSON", [text(WRITTEN)], { output: WRITTEN, tool_calls: CALLS }],
    ["in several texts", [text('{"tool_calls":'), text("[]}")], { output: '{"tool_calls":\n[]}', tool_calls: [] }],
    ["after what led to them", [thought, text(WRITTEN)], { output: WRITTEN, tool_calls: CALLS }],
    ["beside data, whose calls count", [data({ tool_calls: [] }), text(WRITTEN)], { output: WRITTEN, tool_calls: [] }],
  ])("writes calls down %s", (_case, parts, answer) => {
    expect(read(parts)).toEqual({ kind: "answer", answer });
  });

  it.each(["```json\n$\n```", "```\n$\n```", "<think>Which?</think>\n\n$\n"])("writes calls down as %j", (form) => {
    const output = form.replace("$", () => WRITTEN);
    expect(read([text(output)])).toEqual({ kind: "answer", answer: { output, tool_calls: CALLS } });
  });

  it.each(['{"tool_calls": [], "a": 1}', `I call: ${WRITTEN}`, JSON.stringify(CALLS), "42"])(
    "calls nothing by %j",
    (output) => {
      expect(read([text(output)])).toEqual({ kind: "answer", answer: { output } });
    },
  );

  it("calls nothing by its text where no call is asked for, or none was read when the run was signed", () => {
    const answer = { kind: "answer", answer: { output: WRITTEN } };
    expect(read([text(WRITTEN)], jobOf())).toEqual(answer);
    expect(read([text(WRITTEN)], { ...JOB, rules: "9" })).toEqual(answer);
  });

  it("says what is wrong with calls that are none", () => {
    expect(read([text('{"tool_calls": [{"arguments": {}}]}')])).toMatchObject({
      detail: "The answer does not fit the protocol at tool_calls.0.name.",
    });
  });
});
