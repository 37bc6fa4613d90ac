import { afterAll, beforeAll, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { type Handler, json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, callbackIn, startAgent, type TestSuite } from "./support.ts";

let service: TestService;
let endpoint: Consumer;
let owner: User;
let nullable: TestSuite;

const graded = (output_schema: object) => ({
  columns: { grader: { type: "json_schema" }, expected_output: null, output_format: "json", output_schema },
});

beforeAll(async () => {
  service = await startService();
  endpoint = await startAgent();
  owner = await newUser(service, { plan: "pro" });
  nullable = await addSuite(service, 1, graded({ type: ["object", "null"] }));
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

const native = (body: object): Handler => {
  return () => json(200, body);
};
const reported = (report: object): Handler => {
  return async ({ body }) => {
    const { callback } = JSON.parse(body.toString()) as { callback: { url: string } };
    const { status } = await fetch(callback.url, {
      method: "PATCH",
      headers: { authorization: `Bearer ${callbackIn(body).token}`, "content-type": "application/json" },
      body: JSON.stringify({ status: "completed", ...report }),
    });
    expect(status).toBe(200);
    return { status: 202 };
  };
};
const chat = (message: object): Handler => {
  return () => json(200, { choices: [{ message }] });
};
const a2a = (...parts: object[]): Handler => {
  return ({ body }) => {
    const { id, method } = JSON.parse(body.toString()) as { id: string; method: string };
    const result = method === "SendMessage" ? { message: { parts } } : { kind: "message", parts };
    return json(200, { jsonrpc: "2.0", id, result });
  };
};

async function verdict(suite: TestSuite, agent: object, answer: Handler): Promise<unknown[]> {
  endpoint.answer = answer;
  const id = await addRun(owner, await addAgent(owner, { endpoint: endpoint.url, ...agent }), suite.tasks[0] ?? "");
  await service.settled();
  const { body } = await owner.call("GET", `/api/v1/runs/${id}`);
  return [body.status, body.passed];
}

const RIGHT = ["completed", true];
const WRONG = ["completed", false];

it.each<[string, object, Handler, unknown[]]>([
  ["as JSON", {}, native({ output: null }), RIGHT],
  ["as text", {}, native({ output: "null" }), RIGHT],
  ["in a code fence", {}, native({ output: "```json\nnull\n```" }), RIGHT],
  ["by callback", {}, reported({ output: null }), RIGHT],
  ["as the text of a chat completion", { agent_protocol: "openai_chat" }, chat({ content: "null" }), RIGHT],
  ["as the text of an A2A message", { agent_protocol: "a2a" }, a2a({ kind: "text", text: "null" }), RIGHT],
  ["as the data of an A2A message", { agent_protocol: "a2a" }, a2a({ kind: "data", data: null }), RIGHT],
  ["as the data of an A2A 1.0 message", { agent_protocol: "a2a_1" }, a2a({ data: null }), RIGHT],
  ["not at all, beside tool calls", {}, native({ tool_calls: [] }), WRONG],
  ["not at all, beside a word on refusing", {}, native({ refused: false }), WRONG],
  ["not at all, by callback", {}, reported({}), WRONG],
  ["as empty text", {}, native({ output: "" }), WRONG],
  [
    "as no content of a chat completion",
    { agent_protocol: "openai_chat" },
    chat({ content: null, tool_calls: [] }),
    WRONG,
  ],
  ["as null data beside text that is none", { agent_protocol: "a2a_1" }, a2a({ data: null }, { text: "{" }), WRONG],
])("where the schema allows null, null given %s is right only if it was given", async (_how, agent, answer, found) => {
  expect(await verdict(nullable, agent, answer)).toEqual(found);
});

it("where the schema does not allow null, an answer of null is wrong", async () => {
  const strict = await addSuite(service, 1, graded({ type: "object" }));
  expect(await verdict(strict, {}, native({ output: null }))).toEqual(WRONG);
});

it("to a grader of text, an answer of null says nothing", async () => {
  const words = await addSuite(service, 1, {
    columns: {
      grader: { type: "constraints", rules: [{ kind: "max_words", n: 3 }] },
      expected_output: null,
      output_format: "text",
    },
  });
  expect(await verdict(words, {}, native({ output: null }))).toEqual(WRONG);
  expect(await verdict(words, {}, native({ output: "null" }))).toEqual(RIGHT);
});
