import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { a2a1 } from "../../../shared/runs/protocols/a2a-1.ts";
import { a2a } from "../../../shared/runs/protocols/a2a.ts";
import type { Pending } from "../../../shared/runs/protocols/protocol.ts";
import { CALLBACK, flood, jobOf, NO_OUTPUT, RUN_ID, toolOf, unfit } from "./protocols-support.ts";

const read = (body: unknown, job = jobOf()) => a2a1.read(body, job);
const result = (value: unknown) => ({ jsonrpc: "2.0", id: RUN_ID, result: value });
const message = (parts: unknown, rest: object = {}) => ({
  message: { messageId: "m", role: "ROLE_AGENT", parts, ...rest },
});
const task = (state: string, rest: object = {}, status: object = {}) => ({
  id: "t-1",
  contextId: "c-1",
  status: { state, timestamp: "2026-11-21T09:00:00Z", ...status },
  ...rest,
});
const artifact = (...parts: unknown[]) => ({ artifactId: "a", parts });
const NEITHER = {
  kind: "failure",
  code: "agent_invalid_response",
  detail: "The result holds neither a message nor a task of A2A 1.0.",
};
const calls = [{ name: "weather", arguments: { city: "Bergen" } }];

describe("a message of A2A 1.0 is sent", () => {
  it("in the members and names of 1.0, and says which version it is", () => {
    const job = jobOf({ input: [1], output_format: "json", tools: [toolOf("weather.now")] });
    const data = [{ input: [1] }, { output_format: "json", tools: [toolOf("weather.now")] }];
    expect(a2a1.request(job, CALLBACK)).toEqual({
      jsonrpc: "2.0",
      id: RUN_ID,
      method: "SendMessage",
      params: {
        message: {
          messageId: RUN_ID,
          role: "ROLE_USER",
          parts: [
            { text: "Add them." },
            ...data.map((one) => ({ data: one, mediaType: "application/json" })),
            { text: "input:\n[1]\n\nAnswer in JSON alone." },
          ],
        },
        configuration: { acceptedOutputModes: ["text/plain", "application/json"] },
      },
    });
    expect(a2a1.headers).toEqual({ "A2A-Version": "1.0" });
  });
});

describe("an answer of A2A 1.0", () => {
  it.each<[string, unknown, unknown]>([
    ["of text", message([{ text: "42", mediaType: "text/plain" }]), { output: "42" }],
    ["of empty text", message([{ text: "" }]), { output: "" }],
    ["of data", message([{ data: { a: 1 } }]), { output: { a: 1 } }],
    ["of data that is no object", message([{ data: [1, null] }]), { output: [1, null] }],
    [
      "with files is what stands beside them",
      message([{ raw: "AA==" }, { url: "https://x.test/1" }, { text: "4" }]),
      { output: "4" },
    ],
    ["of calls as data", message([{ data: { tool_calls: calls } }]), { tool_calls: calls }],
    [
      "without what led to it",
      message([
        { text: "Is it 5?", metadata: { adk_thought: true } },
        { data: { name: "look_up", args: {} }, metadata: { adk_type: "function_call" } },
        { text: "4", metadata: { "vendor/x": 1 } },
      ]),
      { output: "4" },
    ],
    ["of a refusal without parts", { message: { messageId: "m", metadata: { refused: true } } }, { refused: true }],
    [
      "with usage",
      message([{ text: "4" }], { metadata: { usage: { cost_usd: 1 } } }),
      { output: "4", usage: { cost_usd: 1 } },
    ],
    [
      "is a completed task's artifacts",
      { task: task("TASK_STATE_COMPLETED", { artifacts: [artifact({ text: "4" }), artifact({ text: "2" })] }) },
      { output: "4\n2" },
    ],
    [
      "is a completed task's last words without artifacts",
      {
        task: task(
          "TASK_STATE_COMPLETED",
          { metadata: { usage: { cost_usd: 1 } } },
          { message: { parts: [{ text: "4" }] } },
        ),
      },
      { output: "4", usage: { cost_usd: 1 } },
    ],
    [
      "is what its agent said last, where its task was completed without a word",
      {
        task: task("TASK_STATE_COMPLETED", {
          history: [
            { role: "ROLE_USER", parts: [{ text: "Add them." }] },
            { role: "ROLE_AGENT", parts: [{ text: "4" }] },
          ],
        }),
      },
      { output: "4" },
    ],
  ])("%s", (_case, value, answer) => {
    expect(read(result(value))).toEqual({ kind: "answer", answer });
  });

  it.each(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_UNSPECIFIED"])(
    "that is %s is asked for by GetTask, which answers with the task itself",
    (state) => {
      const first = read(result({ task: task(state) })) as Pending;
      expect(first.request).toEqual({
        jsonrpc: "2.0",
        id: RUN_ID,
        method: "GetTask",
        params: { id: "t-1", historyLength: 10 },
      });
      const again = first.read(result(task("TASK_STATE_WORKING"))) as Pending;
      const last = again.read(result(task("TASK_STATE_COMPLETED", { artifacts: [artifact({ text: "42" })] })));
      expect(last).toEqual({ kind: "answer", answer: { output: "42" } });
      expect(first.read(result({ ...task(state), id: "t-2" }))).toMatchObject({ code: "agent_invalid_response" });
    },
  );

  it.each<[string, object]>([
    ["a message", message([{ text: "7" }])],
    ["a task", { task: task("TASK_STATE_COMPLETED", { artifacts: [artifact({ text: "7" })] }) }],
  ])("that was asked for is no answer with %s beside it, which would be a first one", (_case, beside) => {
    const first = read(result({ task: task("TASK_STATE_WORKING") })) as Pending;
    const both = { ...task("TASK_STATE_COMPLETED", { artifacts: [artifact({ text: "42" })] }), ...beside };
    expect(first.read(result(both))).toMatchObject({ kind: "failure", code: "agent_invalid_response" });
    expect(a2a1.readLater?.(result(both), jobOf())).toMatchObject({ kind: "failure" });
  });

  it.each([
    ["TASK_STATE_FAILED", "failed"],
    ["TASK_STATE_CANCELED", "canceled"],
    ["TASK_STATE_REJECTED", "rejected"],
    ["TASK_STATE_INPUT_REQUIRED", "input-required"],
    ["TASK_STATE_AUTH_REQUIRED", "auth-required"],
  ])("that is %s fails as the same state of 0.3", (state, former) => {
    const words = [{ text: "Which city?" }];
    const before = { kind: "message", parts: [{ kind: "text", text: "Which city?" }] };
    expect(read(result({ task: task(state, {}, { message: { parts: words } }) }))).toEqual(
      a2a.read(result({ kind: "task", ...task(former, {}, { message: before }) }), jobOf()),
    );
  });

  it.each<[string, unknown, unknown]>([
    ["in the form of 0.3", { kind: "message", parts: [{ kind: "text", text: "4" }] }, NEITHER],
    ["a state of 0.3", { task: task("completed") }, unfit("result.task.status.state")],
    ["a part of nothing", message([{ mediaType: "text/plain" }]), unfit("result.message.parts.0")],
    ["a message of nothing", message([]), NO_OUTPUT],
    [
      "a task whose id can't be sent back",
      { task: { ...task("TASK_STATE_WORKING"), id: "t".repeat(1025) } },
      unfit("result.task.id"),
    ],
    ["1 MiB of what are no parts", message(flood("0")), unfit("result.message.parts")],
  ])("is refused where it is %s", (_case, value, reading) => {
    expect(read(result(value))).toEqual(reading);
  });

  it("says that an agent does not speak this version in the agent's words", () => {
    const error = { code: -32009, message: "Version not supported" };
    expect(read({ jsonrpc: "2.0", id: RUN_ID, error })).toEqual({
      kind: "failure",
      code: "agent_reported_failure",
      detail: "The agent answered with the JSON-RPC error -32009: Version not supported",
    });
  });

  it("is the same, written as 0.3 or as 1.0, whatever it holds", () => {
    const part = fc.oneof(fc.record({ text: fc.string() }), fc.record({ data: fc.jsonValue() }));
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 4 }),
        fc.constantFrom("text" as const, "json" as const),
        (parts, output_format) => {
          const former = parts.map((one) => ({ kind: "text" in one ? "text" : "data", ...one }));
          const job = jobOf({ output_format });
          expect(read(result(message(parts)), job)).toEqual(a2a.read(result({ kind: "message", parts: former }), job));
        },
      ),
    );
  });

  it("never throws, whatever JSON it is", () => {
    const state = fc.constantFrom("TASK_STATE_WORKING", "TASK_STATE_COMPLETED", "__proto__", "");
    fc.assert(
      fc.property(fc.jsonValue(), state, (value, at) => {
        for (const body of [
          value,
          result(value),
          result(message(value)),
          result({ task: task(at, { artifacts: value }) }),
        ])
          expect(["answer", "failure", "pending"]).toContain(read(body).kind);
      }),
    );
  });
});
