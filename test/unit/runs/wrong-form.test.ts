import { describe, expect, it } from "vitest";
import type { Job } from "../../../shared/runs/job.ts";
import { formWords } from "../../../shared/runs/wrong-form.ts";

type Name = Job["agent"]["agent_protocol"];

const wordsOf = (status: number, body: unknown, spoken: Name, type = "application/json") =>
  formWords(
    {
      status,
      headers: new Headers({ "content-type": type }),
      body: new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)),
    },
    spoken,
  );

const rpc = (rest: object) => ({ jsonrpc: "2.0", id: null, ...rest });
const NAMES: Name[] = ["native", "openai_chat", "a2a", "a2a_1"];
const A2A = ["a2a", "a2a_1"];

describe("an answer of another protocol is told with the setting that fits it", () => {
  it.each<[string, number, unknown, RegExp, string[]]>([
    ["a chat completion", 200, { choices: [{ message: { content: "x" } }] }, /is openai_chat\.$/, ["openai_chat"]],
    ["the native form", 200, { output: "x" }, /is native\.$/, ["native"]],
    ["a result of A2A 0.3", 200, rpc({ result: { kind: "message", parts: [] } }), /0\.3.* is a2a\.$/, ["a2a"]],
    ["a result of A2A 1.0", 200, rpc({ result: { message: { parts: [] } } }), /is a2a_1\.$/, ["a2a_1"]],
    ["an error of JSON-RPC", 200, rpc({ error: { code: -32600, message: "x" } }), /a2a for .*a2a_1 for/, A2A],
    ["one with another status", 400, rpc({ error: { code: -32600, message: "x" } }), /a2a for .*a2a_1 for/, A2A],
    [
      "OpenAI's refusal",
      400,
      { error: { message: "you must provide a model parameter", type: "invalid_request_error" } },
      /is openai_chat\.$/,
      ["openai_chat"],
    ],
    [
      "a refusal of what is compatible",
      400,
      { error: { message: "'messages' is a required property" } },
      /is openai_chat\.$/,
      ["openai_chat"],
    ],
    [
      "FastAPI's, of chat completions",
      422,
      { detail: [{ loc: ["body", "messages"], msg: "Field required" }] },
      /is openai_chat\.$/,
      ["openai_chat"],
    ],
    [
      "FastAPI's, of the native protocol",
      422,
      { detail: [{ loc: ["body", "task"], msg: "Field required" }] },
      /is native\.$/,
      ["native"],
    ],
    ["FastAPI's, of JSON-RPC", 422, { detail: [{ loc: ["body", "jsonrpc"], msg: "Field required" }] }, /a2a for/, A2A],
  ])("%s", (_what, status, body, words, fitting) => {
    for (const name of NAMES) {
      const said = wordsOf(status, body, name);
      if (fitting.includes(name)) expect(said).toBe("");
      else expect(said).toMatch(words);
    }
  });
});

it.each([
  ["by its type", "\n", "text/event-stream; charset=utf-8"],
  ["by its beginning", 'data: {"choices":[]}\n\n', "text/plain"],
  ["by a comment", ": OPENROUTER PROCESSING\n\n", "text/plain"],
  [
    "by its lines of JSON, as n8n's",
    '{"type":"begin","metadata":{}}\n{"type":"item","content":"x"}\n',
    "application/json",
  ],
  ["by its parts, as the AI SDK's", '0:"x"\n0:"y"\nd:{"finishReason":"stop"}\n', "text/plain"],
])("an event stream is told %s", (_how, body, type) => {
  expect(wordsOf(200, body, "openai_chat", type)).toMatch(/stream of events/);
});

it.each<[string, number, unknown]>([
  ["text", 200, "messages"],
  ["text of an error", 400, "id: Field required"],
  ["a list", 200, [{ output: "x" }]],
  ["JSON of no protocol", 200, { text: "}\n{" }],
  ["JSON of no protocol in lines", 200, '{ "a": {}\n,"b": "}{" }'],
  ["OpenAI's other interface", 200, { object: "response", output: [] }],
  ["a result of JSON-RPC that is none of A2A", 200, rpc({ result: { tools: [] } })],
  ["an error of the server", 500, { error: { message: "messages is undefined" } }],
  ["a refusal for another reason", 400, { error: { message: "Too many messengers." } }],
])("nothing is told of %s", (_what, status, body) => {
  for (const name of NAMES) expect(wordsOf(status, body, name)).toBe("");
});

it.each([
  ["zstd", /^The answer is compressed.*gzip/],
  ["gzip", /^$/],
  ["br", /^$/],
])("what %s left unreadable is told where the runtime does not undo it", (encoding, words) => {
  const headers = new Headers({ "content-encoding": encoding });
  expect(formWords({ status: 200, headers, body: Buffer.from("(\u00b5/\u00fd", "latin1") }, "native")).toMatch(words);
});
