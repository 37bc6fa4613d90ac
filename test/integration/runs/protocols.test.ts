import { randomUUID } from "node:crypto";
import * as z from "zod";
import { describe, expect, it } from "vitest";
import { verifyRequest } from "../../../shared/platform/outbound/signature.ts";
import { callAgent, openLine } from "../../../shared/runs/call.ts";
import type { Job } from "../../../shared/runs/job.ts";
import { protocolOf } from "../../../shared/runs/protocols/index.ts";
import { json, listen, type Request } from "../../stack/http.ts";
import { CALLBACK, ENV, jobOf, KEYS, toolOf } from "../../unit/runs/protocols-support.ts";

type ProtocolName = Job["agent"]["agent_protocol"];

/** A server whose every request has to be JSON that the service signed, and to want JSON by name, as LangGraph demands. */
async function serve(answer: (body: unknown) => unknown) {
  const server = await listen(async ({ method, url, headers, body }: Request) => {
    if (headers.accept !== "application/json")
      return json(400, { error: "Accept header must include application/json" });
    const verdict = await verifyRequest(
      {
        method,
        url: `http://${headers.host}${url.pathname}${url.search}`,
        headers: new Headers(headers as Record<string, string>),
        body,
      },
      { keys: KEYS.publicJwks() },
      { now: new Date() },
    );
    return verdict.ok ? json(200, answer(JSON.parse(body.toString()))) : json(401, verdict);
  });
  return { url: server.url, [Symbol.asyncDispose]: server.close };
}

async function screen(url: string, agent_protocol: ProtocolName, task: Partial<Job["task"]>) {
  const job = jobOf(task, { endpoint: url, agent_protocol });
  const protocol = protocolOf(agent_protocol);
  const ctx = {
    env: ENV,
    keys: async () => KEYS,
    now: () => new Date(),
    resolver: { query: () => Promise.reject(new Error("loopback is not looked up")) },
    fetch,
  };
  const body = JSON.stringify(protocol.request(job, CALLBACK));
  const { outcome } = await callAgent(ctx, job, protocol, body, await openLine(ctx, job), async () => undefined);
  return outcome.kind === "answer" ? outcome.answer : outcome;
}

/** What the chat completions API demands of a request, as far as it says so. */
const CompletionRequest = z.strictObject({
  model: z.string().min(1),
  messages: z.tuple([z.strictObject({ role: z.literal("user"), content: z.string().min(1) })]),
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        function: z.strictObject({
          name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
          description: z.string(),
          parameters: z.looseObject({ type: z.literal("object") }),
        }),
      }),
    )
    .min(1)
    .optional(),
  response_format: z
    .strictObject({
      type: z.literal("json_schema"),
      json_schema: z.strictObject({
        name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
        schema: z.looseObject({ type: z.literal("object") }),
      }),
    })
    .optional(),
  stream: z.literal(false),
});

/** A chat completions server: calls every tool it is given, else tells what it was asked in the format asked for. */
function completionsServer() {
  return serve((body) => {
    const { model, messages, tools, response_format } = CompletionRequest.parse(body);
    const { content } = messages[0];
    const message = tools
      ? {
          content: null,
          tool_calls: tools.map(({ function: { name } }, at) => ({
            id: `call_${at}`,
            type: "function",
            function: { name, arguments: '{"city": "Bergen"}' },
          })),
        }
      : { content: response_format ? JSON.stringify({ format: response_format.type, content }) : content };
    return {
      id: `chatcmpl-${randomUUID()}`,
      object: "chat.completion",
      created: Math.floor(Date.now() / 1000),
      model: `${model}-2026-11-01`,
      choices: [
        { index: 0, message: { role: "assistant", refusal: null, ...message }, finish_reason: "stop", logprobs: null },
      ],
      usage: { prompt_tokens: content.length, completion_tokens: 7, total_tokens: content.length + 7 },
    };
  });
}

describe("an agent that speaks openai_chat", () => {
  const usage = (input_tokens: number) => ({
    calls: [{ model: "default-2026-11-01", input_tokens, output_tokens: 7 }],
  });
  const list = { type: "array", items: { type: "string" } };
  const wanting = (schema: object) =>
    `Add them.\n\nAnswer in JSON that is valid against this JSON Schema:\n${JSON.stringify(schema)}`;
  const [inWords, both] = [wanting(list), wanting({ type: "object" })];
  const city = { city: "Bergen" };

  it.each<[string, Partial<Job["task"]>, unknown]>([
    ["text", { input: [1] }, { output: "Add them.\n\ninput:\n[1]", usage: usage(21) }],
    ["JSON", { output_format: "json" }, { output: "Add them.\n\nAnswer in JSON alone.", usage: usage(32) }],
    [
      "JSON by a schema",
      { output_format: "json", output_schema: { type: "object" } },
      { output: JSON.stringify({ format: "json_schema", content: both }), usage: usage(both.length) },
    ],
    [
      "JSON by the schema of a list",
      { output_format: "json", output_schema: list },
      { output: inWords, usage: usage(inWords.length) },
    ],
    [
      "tool calls",
      { output_format: "tool_calls", tools: [toolOf("weather.now"), toolOf("weather")] },
      {
        tool_calls: [
          { name: "weather.now", arguments: city },
          { name: "weather", arguments: city },
        ],
        // With the words that say that no result comes back.
        usage: usage(130),
      },
    ],
  ])("answers a task that wants %s", async (_case, task, answer) => {
    await using server = await completionsServer();
    expect(await screen(`${server.url}/v1/chat/completions`, "openai_chat", task)).toEqual(answer);
  });
});

const TextPart = z.strictObject({ kind: z.literal("text"), text: z.string() });

const Rpc = z.discriminatedUnion("method", [
  z.strictObject({
    jsonrpc: z.literal("2.0"),
    id: z.string(),
    method: z.literal("message/send"),
    params: z.strictObject({
      message: z.strictObject({
        kind: z.literal("message"),
        role: z.literal("user"),
        messageId: z.string().min(1),
        parts: z.tuple(
          [TextPart],
          z.union([z.strictObject({ kind: z.literal("data"), data: z.record(z.string(), z.json()) }), TextPart]),
        ),
      }),
      configuration: z.strictObject({ blocking: z.boolean(), acceptedOutputModes: z.array(z.string()) }),
    }),
  }),
  z.strictObject({
    jsonrpc: z.literal("2.0"),
    id: z.string(),
    method: z.literal("tasks/get"),
    params: z.strictObject({ id: z.string(), historyLength: z.literal(10) }),
  }),
]);

interface Work {
  id: string;
  parts: unknown[];
  /** How often it is still to be asked for. */
  left: number;
}

/** An Agent2Agent server that works on a task while it is asked for `steps` times, then tells what it was sent. */
function a2aServer({ steps, ends = "completed" }: { steps: number; ends?: string }) {
  const tasks = new Map<string, Work>();
  const metadata = { usage: { calls: [{ model: "m", input_tokens: 1, output_tokens: 2, cost_usd: 0.5 }] } };
  const view = ({ id, parts, left }: Work) => ({
    kind: "task",
    id,
    contextId: "c-1",
    status: { state: left > 0 ? "working" : ends, timestamp: new Date().toISOString() },
    ...(left > 0 ? {} : { artifacts: [{ artifactId: "a-1", parts }], metadata }),
  });
  return serve((body) => {
    const request = Rpc.parse(body);
    const reply = (rest: object) => ({ jsonrpc: "2.0", id: request.id, ...rest });
    if (request.method === "message/send") {
      const work = { id: randomUUID(), parts: request.params.message.parts, left: steps };
      tasks.set(work.id, work);
      return reply({ result: view(work) });
    }
    const work = tasks.get(request.params.id);
    if (work === undefined) return reply({ error: { code: -32001, message: "Task not found" } });
    work.left -= 1;
    return reply({ result: view(work) });
  });
}

describe("an agent that speaks a2a", () => {
  const usage = { calls: [{ model: "m", input_tokens: 1, output_tokens: 2, cost_usd: 0.5 }] };

  it.each([0, 1, 5])("answers by a task that is asked for %i times", async (steps) => {
    await using server = await a2aServer({ steps });
    const output = "Add them.\ninput:\n[1]";
    expect(await screen(`${server.url}/a2a`, "a2a", { input: [1] })).toEqual({ output, usage });
  });

  it("answers in JSON by data", async () => {
    await using server = await a2aServer({ steps: 1 });
    const task = { output_format: "json" as const, output_schema: { type: "object" }, tools: [toolOf("weather.now")] };
    expect(await screen(server.url, "a2a", task)).toEqual({ output: task, usage });
    // What it was sent, and sends back: the input stands apart from what answer is wanted.
    const input = { city: "Bergen" };
    expect(await screen(server.url, "a2a", { ...task, input })).toEqual({ output: [input, task], usage });
  });

  it("gives up by a task that fails", async () => {
    await using server = await a2aServer({ steps: 2, ends: "failed" });
    expect(await screen(server.url, "a2a", {})).toMatchObject({ kind: "failure", code: "agent_reported_failure" });
  });
});

describe("an agent that speaks a2a 1.0", () => {
  it("is told the version with each request, and asked for its task until it has ended", async () => {
    const versions: unknown[] = [];
    const asked: string[] = [];
    const task = (state: string, rest: object = {}) => ({ id: "t-1", contextId: "c-1", status: { state }, ...rest });
    const server = await listen(({ headers, body }: Request) => {
      versions.push(headers["a2a-version"]);
      const { id, method, params } = JSON.parse(body.toString());
      asked.push(method);
      if (method === "SendMessage")
        return json(200, { jsonrpc: "2.0", id, result: { task: task("TASK_STATE_WORKING") } });
      const artifacts = [{ artifactId: "a", parts: [{ text: `It is ${params.id}` }] }];
      const result = asked.length < 4 ? task("TASK_STATE_WORKING") : task("TASK_STATE_COMPLETED", { artifacts });
      return json(200, { jsonrpc: "2.0", id, result });
    });
    expect(await screen(server.url, "a2a_1", {})).toEqual({ output: "It is t-1" });
    expect(asked).toEqual(["SendMessage", "GetTask", "GetTask", "GetTask"]);
    expect(versions).toEqual(["1.0", "1.0", "1.0", "1.0"]);
    await server.close();
  });
});

describe("an a2a server that takes texts alone", () => {
  /** Refuses a message that has anything but texts by `refusal`, with `status`, and answers others with what they say. */
  async function textServer(refusal: object, status = 200) {
    const asked: (z.output<typeof Sent> & { key: unknown })[] = [];
    const server = await listen(({ headers, body }: Request) => {
      const sent = Sent.parse(JSON.parse(body.toString()));
      asked.push({ ...sent, key: headers["idempotency-key"] });
      const { id, method, params } = sent;
      const texts = params.message.parts.flatMap((part) => ("text" in part ? [String(part["text"])] : []));
      const isText = texts.length === params.message.parts.length;
      const reply = method === "SendMessage" ? { message: { parts: [{ text: texts.join("\n") }] } } : undefined;
      const parts = [{ kind: "text", text: texts.join("\n") }];
      const result = reply ?? { kind: "message", role: "agent", messageId: "m", parts };
      if (isText) return json(200, { jsonrpc: "2.0", id, result });
      return json(status, { jsonrpc: "2.0", id, error: refusal });
    });
    return { url: server.url, asked, [Symbol.asyncDispose]: server.close };
  }
  const Sent = z.object({
    id: z.string(),
    method: z.string(),
    params: z.object({
      message: z.object({ messageId: z.string(), parts: z.array(z.record(z.string(), z.unknown())) }),
    }),
  });
  const task = { input: { city: "Bergen" }, output_format: "json" as const, output_schema: { type: "object" } };

  it.each([
    ["a2a", "A2A's own code", { code: -32005, message: "Incompatible content types" }, 200],
    ["a2a_1", "A2A's own code", { code: -32005, message: "Incompatible content types" }, 200],
    ["a2a", "invalid parameters", { code: -32602, message: "Invalid params" }, 200],
    ["a2a", "invalid parameters with status 400", { code: -32602, message: "Invalid params" }, 400],
    ["a2a", "words alone", { code: -32603, message: "Data parts are not supported in core messages" }, 200],
  ] as const)("is asked once more, in %s, after it refused by %s", async (protocol, _case, refusal, status) => {
    await using server = await textServer(refusal, status);
    const schema = 'Answer in JSON that is valid against this JSON Schema:\n{"type":"object"}';
    const output = `Add them.\ninput:\n{"city":"Bergen"}\n\n${schema}`;
    expect(await screen(server.url, protocol, task)).toEqual({ output });
    const [first, second, ...more] = server.asked;
    expect(more).toEqual([]);
    expect([first?.params.message.parts.length, second?.params.message.parts.length]).toEqual([4, 2]);
    // Another message, which a server that remembers the first by its id or key must not answer as it did that.
    expect([second?.id, second?.key]).toEqual([first?.id, undefined]);
    expect(second?.params.message.messageId).not.toBe(first?.params.message.messageId);
  });

  it.each([
    ["another error", { code: -32000, message: "Out of credit" }],
    ["none of its methods", { code: -32601, message: "Method not found" }],
  ])("is not asked again where it refuses for %s", async (_case, refusal) => {
    await using server = await textServer(refusal);
    expect(await screen(server.url, "a2a", task)).toMatchObject({ code: "agent_reported_failure" });
    expect(server.asked).toHaveLength(1);
  });

  it("fails as it says where it refuses the texts, too", async () => {
    let asked = 0;
    const server = await listen(({ body }: Request) => {
      asked += 1;
      const error = { code: -32602, message: `No, ${asked}` };
      return json(200, { jsonrpc: "2.0", id: JSON.parse(body.toString()).id, error });
    });
    expect(await screen(server.url, "a2a", task)).toMatchObject({
      code: "agent_reported_failure",
      detail: "The agent answered with the JSON-RPC error -32602: No, 2",
    });
    expect(asked).toBe(2);
    await server.close();
  });
});
