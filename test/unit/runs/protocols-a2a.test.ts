import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Job } from "../../../shared/runs/job.ts";
import { a2a } from "../../../shared/runs/protocols/a2a.ts";
import type { Pending } from "../../../shared/runs/protocols/protocol.ts";
import { CALLBACK, flood, jobOf, NO_OUTPUT, RUN_ID, unfit } from "./protocols-support.ts";

const TEXT_JOB = jobOf();
const JSON_JOB = jobOf({ output_format: "json" });

const read = (body: unknown, job: Job = TEXT_JOB) => a2a.read(body, job);
const result = (value: unknown) => ({ jsonrpc: "2.0", id: RUN_ID, result: value });
const failing = (error: unknown, id: unknown = RUN_ID) => ({ jsonrpc: "2.0", id, error });

const text = (words: string) => ({ kind: "text", text: words });
const data = (value: unknown) => ({ kind: "data", data: value });
const file = { kind: "file", file: { uri: "https://agent.example.com/1" } };
/** A part that its agent marks as none of the answer, as ADK does. */
const aside = (part: object, mark: object) => ({ ...part, metadata: mark });
const TOOL = [
  aside(data({ id: "c-1", name: "look_up", args: {} }), { adk_type: "function_call", adk_is_long_running: false }),
  aside(data({ id: "c-1", name: "look_up", response: {} }), { adk_type: "function_response" }),
];
const thought = aside(text("Is it 41?"), { adk_thought: true });
const message = (parts: unknown, rest: object = {}) => ({
  kind: "message",
  role: "agent",
  messageId: "m",
  parts,
  ...rest,
});
const task = (state: unknown, rest: object = {}, status: object = {}) => ({
  kind: "task",
  id: "t-1",
  contextId: "c-1",
  status: { state, timestamp: "2026-11-21T09:00:00Z", ...status },
  ...rest,
});
const artifact = (...parts: unknown[]) => ({ artifactId: "a", parts });
const reported = (detail: string) => ({ kind: "failure", code: "agent_reported_failure", detail });
const invalid = (detail: string) => ({ kind: "failure", code: "agent_invalid_response", detail });

describe("a message is sent", () => {
  const sent = (parts: unknown[]) => ({
    jsonrpc: "2.0",
    id: RUN_ID,
    method: "message/send",
    params: {
      message: { kind: "message", role: "user", messageId: RUN_ID, parts },
      configuration: { blocking: true, acceptedOutputModes: ["text/plain", "application/json"] },
    },
  });

  it.each<[string, Partial<Job["task"]>, object[], ...string[]]>([
    ["the prompt as text and the format as data", {}, [{ output_format: "text" }]],
    [
      "the input as data of its own, and in words for agents that get none",
      { input: { items: [1] } },
      [{ items: [1] }, { output_format: "text" }],
      'input:\n{"items":[1]}',
    ],
    [
      "an input that is no object in one, as data has to be",
      { input: [1] },
      [{ input: [1] }, { output_format: "text" }],
      "input:\n[1]",
    ],
    ["JSON wanted in words as well", { output_format: "json" }, [{ output_format: "json" }], "Answer in JSON alone."],
    [
      "the schema as data, and in words after the input",
      { input: 7, output_format: "json", output_schema: { type: "array" } },
      [{ input: 7 }, { output_format: "json", output_schema: { type: "array" } }],
      'input:\n7\n\nAnswer in JSON that is valid against this JSON Schema:\n{"type":"array"}',
    ],
  ])("with %s", (_case, parts, values, ...words) => {
    const request = a2a.request(jobOf(parts), CALLBACK);
    expect(request).toEqual(sent([text("Add them."), ...values.map(data), ...words.map(text)]));
  });

  it("and answered by HTTP, not by callback", () => {
    expect(a2a.callsBack).toBe(false);
  });
});

const calls = [{ name: "weather", arguments: { city: "Bergen" } }];

describe("a message", () => {
  it.each<[string, unknown, unknown]>([
    ["of text", message([text("42")]), { output: "42" }],
    ["of several texts is their lines", message([text("4"), text("2")]), { output: "4\n2" }],
    ["of empty text", message([text("")]), { output: "" }],
    ["of data", message([data({ a: 1 })]), { output: { a: 1 } }],
    ["of several data is a list", message([data({ a: 1 }), data({ b: 2 })]), { output: [{ a: 1 }, { b: 2 }] }],
    ["of text and data is the text", message([data({ a: 1 }), text("42")]), { output: "42" }],
    ["with a file is what stands beside it", message([file, text("42")]), { output: "42" }],
    ["with what led to it is what was found", message([thought, ...TOOL, text("42")]), { output: "42" }],
    [
      "with what led to it (kagent's form)",
      message([aside(text("Is it 41?"), { kagent_thought: true }), aside(text("42"), { adk_thought: false })]),
      { output: "42" },
    ],
    ["of calls as data", message([data({ tool_calls: calls })]), { tool_calls: calls }],
    [
      "of calls in several data",
      message([data({ tool_calls: calls }), text("Done."), data({ tool_calls: calls })]),
      { output: "Done.", tool_calls: [...calls, ...calls] },
    ],
    ["of no call", message([data({ tool_calls: [] })]), { tool_calls: [] }],
    [
      "of data that tells of calls among other things is data",
      message([data({ tool_calls: calls, a: 1 })]),
      { output: { tool_calls: calls, a: 1 } },
    ],
    ["of calls as metadata", message([], { metadata: { tool_calls: calls } }), { tool_calls: calls }],
    [
      "of calls as both counts them once",
      message([data({ tool_calls: calls })], { metadata: { tool_calls: calls } }),
      { tool_calls: calls },
    ],
    ["of a refusal", message([text("No.")], { metadata: { refused: true } }), { output: "No.", refused: true }],
    ["of a wordless refusal", message([], { metadata: { refused: true } }), { refused: true }],
    [
      "with usage, in whatever form",
      message([text("42")], { metadata: { usage: { calls: [{ model: "m" }] }, "vendor/x": 1 } }),
      { output: "42", usage: { calls: [{ model: "m" }] } },
    ],
    ["with null for metadata", message([text("42")], { metadata: null }), { output: "42" }],
    [
      "with null for what its metadata has not",
      message([text("42")], { metadata: { refused: null, tool_calls: null } }),
      { output: "42" },
    ],
  ])("%s", (_case, value, answer) => {
    expect(read(result(value))).toEqual({ kind: "answer", answer });
  });

  it.each<[string, unknown, unknown]>([
    ["is the data, whatever text is beside it", message([text("Here:"), data({ a: 1 })]), { a: 1 }],
    ["is the text where there is no data", message([text('{"a":1}')]), '{"a":1}'],
    ["is the text after calls of the agent's own tools", message([...TOOL, thought, text('{"a":1}')]), '{"a":1}'],
    [
      "is the text, whatever draft was replaced",
      message([text('{"a":1}'), aside(data({}), { adk_partial: true })]),
      '{"a":1}',
    ],
    [
      "is data that has metadata of another kind",
      message([aside(data({ a: 1 }), { type: "x", adk_partial: false })]),
      { a: 1 },
    ],
  ])("where JSON is wanted %s", (_case, value, output) => {
    expect(read(result(value), JSON_JOB)).toEqual({ kind: "answer", answer: { output } });
  });
});

describe("a completed task", () => {
  const note = { message: message([text("Done.")]) };
  it.each<[string, unknown, unknown]>([
    ["is its artifacts", task("completed", { artifacts: [artifact(text("42"))] }, note), { output: "42" }],
    [
      "is all of its artifacts",
      task("completed", { artifacts: [artifact(text("4")), artifact(text("2"), data({ tool_calls: calls }))] }),
      { output: "4\n2", tool_calls: calls },
    ],
    ["is its last words where it has no artifacts", task("completed", {}, note), { output: "Done." }],
    [
      "is its last words where its artifacts are null",
      task("completed", { artifacts: null }, note),
      { output: "Done." },
    ],
    [
      "is its last words where its artifacts are empty",
      task("completed", { artifacts: [artifact()] }, note),
      { output: "Done." },
    ],
    [
      "takes metadata of the task before that of its message",
      task(
        "completed",
        { metadata: { usage: { cost_usd: 1 } } },
        { message: message([text("No.")], { metadata: { usage: { cost_usd: 2 }, refused: true } }) },
      ),
      { output: "No.", refused: true, usage: { cost_usd: 1 } },
    ],
    [
      "is what its agent said last, where it ended without a word",
      task("completed", {
        history: [message([text("Add them.")], { role: "user" }), message([text("Hm.")]), message([text("42")])],
        metadata: { usage: { cost_usd: 1 } },
      }),
      { output: "42", usage: { cost_usd: 1 } },
    ],
    [
      "is its artifacts, whatever was said before",
      task("completed", { artifacts: [artifact(text("42"))], history: [message([text("Hm.")])] }),
      { output: "42" },
    ],
    [
      "is what it says beside its parts, whatever was said before",
      task("completed", { metadata: { refused: true }, history: [message([text("Hm.")])] }),
      { refused: true },
    ],
    [
      "is read whatever its history is",
      task("completed", { artifacts: [artifact(text("42"))], history: [7, { role: "agent", parts: 7 }] }),
      { output: "42" },
    ],
  ])("%s", (_case, value, answer) => {
    expect(read(result(value))).toEqual({ kind: "answer", answer });
  });
});

describe("a task that is under way", () => {
  const pending = (value: unknown) => {
    const reading = read(result(value));
    expect(reading.kind).toBe("pending");
    return reading as Pending;
  };

  it.each(["submitted", "working", "unknown"])("is asked for while it is %s", (state) => {
    expect(pending(task(state)).request).toEqual({
      jsonrpc: "2.0",
      id: RUN_ID,
      method: "tasks/get",
      params: { id: "t-1", historyLength: 10 },
    });
  });

  it("is asked for as often as it takes, and then read", () => {
    const again = pending(task("submitted")).read(result(task("working")));
    expect(again).toMatchObject({ kind: "pending", request: { method: "tasks/get" } });
    const last = (again as Pending).read(result(task("completed", { artifacts: [artifact(text("42"))] })));
    expect(last).toEqual({ kind: "answer", answer: { output: "42" } });
  });

  it.each<[string, unknown, unknown]>([
    ["another task", result({ ...task("completed"), id: "t-2" }), invalid("The answer is about another task.")],
    ["a message", result(message([text("42")])), unfit("result.kind")],
    [
      "an error",
      failing({ code: -32001, message: "Task not found" }),
      reported("The agent answered with the JSON-RPC error -32001: Task not found"),
    ],
    ["nothing", null, unfit("")],
  ])("is refused when it is answered by %s", (_case, body, reading) => {
    expect(pending(task("working")).read(body)).toEqual(reading);
  });

  it("is refused when its id is too long to be sent back", () => {
    expect(pending({ ...task("working"), id: "t".repeat(1024) }).kind).toBe("pending");
    expect(read(result({ ...task("working"), id: "t".repeat(1025) }))).toEqual(unfit("result.id"));
  });
});

describe("an agent that gives up says so", () => {
  it.each([
    ["failed", "The agent ended its task as failed"],
    ["canceled", "The agent ended its task as canceled"],
    ["rejected", "The agent ended its task as rejected"],
    ["input-required", "The agent wants more input, and a run has none to give"],
    ["auth-required", "The agent wants credentials, and a run has none to give"],
  ])("by a task that is %s", (state, detail) => {
    expect(read(result(task(state)))).toEqual(reported(`${detail}.`));
    const why = { message: message([text("Which"), file, text("city?")]) };
    expect(read(result(task(state, {}, why)))).toEqual(reported(`${detail}: Which city?`));
    const history = [message([text("Add them.")], { role: "user" }), message([text("Which city?")])];
    expect(read(result(task(state, { history })))).toEqual(reported(`${detail}: Which city?`));
  });

  it.each<[string, unknown, string]>([
    ["its own id", failing({ code: -32603, message: "Out of memory" }), "-32603: Out of memory"],
    ["no id, where it could not read the request", failing({ code: -32700, message: "Parse" }, null), "-32700: Parse"],
    ["no words", failing({ code: 7, message: "" }), "7."],
    ["data", failing({ code: 7, message: "No", data: [1] }), "7: No"],
    ["a result of null beside it", { ...failing({ code: 7, message: "No" }), result: null }, "7: No"],
  ])("by a JSON-RPC error with %s", (_case, body, words) => {
    expect(read(body)).toEqual(reported(`The agent answered with the JSON-RPC error ${words}`));
  });

  it.each([
    ["control characters", "a\u0000\u0007b\nc\u009f", "a b c"],
    ["lone surrogates", "a\ud800b", "a\ufffdb"],
    ["half a character at the cut", `${"a".repeat(499)}😀`, `${"a".repeat(499)}\ufffd`],
    ["1 MiB of words", "a".repeat(1024 * 1024), "a".repeat(500)],
  ])("in words that can be stored: %s", (_case, words, shown) => {
    const detail = `The agent answered with the JSON-RPC error 7: ${shown}`;
    expect(read(failing({ code: 7, message: words }))).toEqual(reported(detail));
  });
});

describe("an answer is refused when it is", () => {
  const another = invalid("The answer is to another request: its id differs.");
  const parts = (value: unknown) => result(message(value));
  it.each<[string, unknown, unknown]>([
    ["null", null, unfit("")],
    ["a batch", [result(message([text("42")]))], unfit("")],
    ["no JSON-RPC", { output: "42" }, unfit("jsonrpc")],
    ["another version of JSON-RPC", { ...result(message([])), jsonrpc: "1.0" }, unfit("jsonrpc")],
    ["without an id", { jsonrpc: "2.0", result: message([text("42")]) }, unfit("id")],
    ["to another request", { ...result(message([text("42")])), id: "other" }, another],
    ["to request number 1", { ...result(message([text("42")])), id: 1 }, another],
    ["to no request", { ...result(message([text("42")])), id: null }, another],
    ["an error of another request", failing({ code: 7, message: "No" }, "other"), another],
    ["without a result", { jsonrpc: "2.0", id: RUN_ID }, unfit("result")],
    ["a result that is text", result("42"), unfit("result")],
    ["a result of no kind", result({ parts: [text("42")] }), unfit("result.kind")],
    ["a result of another kind", result({ kind: "status-update" }), unfit("result.kind")],
    ["an error that is none", failing("No"), unfit("error")],
    ["an error without a code", failing({ message: "No" }), unfit("error.code")],
    ["a message without parts", result({ kind: "message" }), unfit("result.parts")],
    ["a part of no kind", parts([{ text: "42" }]), unfit("result.parts.0.kind")],
    ["text that is none", parts([{ kind: "text", text: 42 }]), unfit("result.parts.0.text")],
    ["data without any", parts([{ kind: "data" }]), unfit("result.parts.0.data")],
    ["a message of nothing", parts([]), NO_OUTPUT],
    ["a message of a file alone", parts([file]), NO_OUTPUT],
    ["a message of thoughts alone", parts([thought]), NO_OUTPUT],
    ["a call without a name", parts([data({ tool_calls: [{ arguments: {} }] })]), unfit("tool_calls.0.name")],
    ["metadata that is text", result(message([text("42")], { metadata: "x" })), unfit("result.metadata")],
    ["refused in words", result(message([], { metadata: { refused: "yes" } })), unfit("result.metadata.refused")],
    [
      "a call in metadata that is none",
      result(message([], { metadata: { tool_calls: [1] } })),
      unfit("result.metadata.tool_calls.0"),
    ],
    ["a task without an id", result({ ...task("working"), id: undefined }), unfit("result.id")],
    ["a task without a status", result({ kind: "task", id: "t-1" }), unfit("result.status")],
    ["a task in a state that does not exist", result(task("done")), unfit("result.status.state")],
    ["a completed task with nothing to show", result(task("completed")), NO_OUTPUT],
    [
      "a completed task to which the caller alone has said something",
      result(task("completed", { history: [message([text("Add them.")], { role: "user" })] })),
      NO_OUTPUT,
    ],
    [
      "a completed task whose history can't be read",
      result(task("completed", { history: [message([text("42")]), { role: "agent", parts: 7 }] })),
      NO_OUTPUT,
    ],
    ["artifacts that are no list", result(task("completed", { artifacts: {} })), unfit("result.artifacts")],
    ["10,000 of what are no parts", parts(Array.from({ length: 10_000 }, () => 0)), unfit("result.parts.0")],
    ["1 MiB of what are no parts", parts(flood("0")), unfit("result.parts")],
    ["1 MiB of calls", parts([data({ tool_calls: flood('{"name":"a","arguments":1}') })]), unfit("tool_calls")],
    ["1 MiB of what are no calls", parts([data({ tool_calls: flood("0") })]), unfit("tool_calls")],
    ["1 MiB of what are no artifacts", result(task("completed", { artifacts: flood("0") })), unfit("result.artifacts")],
    [
      "1 MiB of artifacts' parts",
      result(
        task("completed", { artifacts: Array.from({ length: 100 }, () => artifact(...flood("0").slice(0, 5000))) }),
      ),
      unfit("result.artifacts"),
    ],
  ])("%s", (_case, body, reading) => {
    expect(read(body)).toEqual(reading);
  });

  it("something else, whatever JSON it is, and nothing is thrown", () => {
    const kinds = ["answer", "failure", "pending"];
    const state = fc.constantFrom("submitted", "working", "completed", "failed", "unknown");
    fc.assert(
      fc.property(
        fc.jsonValue(),
        state,
        fc.dictionary(fc.constantFrom("artifacts", "metadata", "id"), fc.jsonValue()),
        (value, at, rest) => {
          expect(kinds).toContain(read(value).kind);
          expect(kinds).toContain(read(result(value)).kind);
          expect(kinds).toContain(read(result(message(value))).kind);
          expect(kinds).toContain(read(result(message([data(value)]))).kind);
          expect(kinds).toContain(read(result(task(at, rest, { message: value }))).kind);
        },
      ),
    );
  });
});
