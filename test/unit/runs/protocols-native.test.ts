import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { native } from "../../../shared/runs/protocols/native.ts";
import { CALLBACK, flood, jobOf, NO_OUTPUT, RUN_ID, toolOf, unfit } from "./protocols-support.ts";

const job = jobOf();
const read = (body: unknown) => native.read(body, job);

describe("a native request", () => {
  it("holds the run, the task, the deadline and the way back, and neither the task's id nor its key", () => {
    expect(native.request(job, CALLBACK)).toEqual({
      protocol: "2026-11",
      run_id: RUN_ID,
      screening_session_id: null,
      repeat_index: 1,
      repeat_total: 1,
      task: { domain: "reasoning", prompt: "Add them.", output_format: "text" },
      deadline: CALLBACK.deadline,
      callback: { method: "PATCH", url: CALLBACK.url, token: CALLBACK.token },
    });
  });

  it("holds input, schema and tools where the task has them", () => {
    const parts = { input: [1, 2], output_schema: { type: "object" }, tools: [toolOf("weather")] };
    expect(native.request(jobOf(parts), CALLBACK)).toMatchObject({ task: parts });
  });

  it("may be answered by callback", () => {
    expect(native.callsBack).toBe(true);
  });
});

describe("a native answer", () => {
  it.each([
    ["text", { output: "42" }, { output: "42" }],
    ["JSON", { output: { a: [1, null] } }, { output: { a: [1, null] } }],
    ["an output of null", { output: null }, { output: null }],
    ["no output, but a word on refusing", { refused: false }, { refused: false }],
    ["a refusal", { refused: true }, { refused: true }],
    [
      "tool calls",
      { tool_calls: [{ name: "weather", arguments: { city: "Bergen" } }] },
      { tool_calls: [{ name: "weather", arguments: { city: "Bergen" } }] },
    ],
    ["no tool call", { tool_calls: [] }, { tool_calls: [] }],
    ["usage, in whatever form", { output: "42", usage: "much" }, { output: "42", usage: "much" }],
    ["null for what there is not", { output: "42", refused: null, tool_calls: null }, { output: "42" }],
    ["fields that the protocol does not know", { output: "42", confidence: 1 }, { output: "42" }],
  ])("of %s", (_case, body, answer) => {
    expect(read(body)).toEqual({ kind: "answer", answer });
  });

  it.each([
    ["nothing", {}, NO_OUTPUT],
    ["null for a word on refusing", { refused: null, tool_calls: null }, NO_OUTPUT],
    ["usage alone", { usage: { cost_usd: 1 } }, NO_OUTPUT],
    ["null", null, unfit("")],
    ["a list", [{ output: "42" }], unfit("")],
    ["text", "42", unfit("")],
    ["a flag that is none", { output: "42", refused: "no" }, unfit("refused")],
    ["calls that are no list", { tool_calls: {} }, unfit("tool_calls")],
    ["a call without a name", { tool_calls: [{ arguments: {} }] }, unfit("tool_calls.0.name")],
    ["a call without arguments", { tool_calls: [{ name: "weather" }] }, unfit("tool_calls.0.arguments")],
    ["more than 1000 calls", { tool_calls: flood('{"name":"a","arguments":1}') }, unfit("tool_calls")],
    ["1 MiB of what are no calls", { tool_calls: flood("0") }, unfit("tool_calls")],
  ])("of %s is refused", (_case, body, reading) => {
    expect(read(body)).toEqual(reading);
  });

  it("is read or refused whatever JSON it is, and never thrown at", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        expect(["answer", "failure"]).toContain(read(body).kind);
      }),
    );
  });
});
