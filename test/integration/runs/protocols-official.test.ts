import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Message, Task } from "@a2a-js/sdk";
import { type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { A2AExpressApp } from "@a2a-js/sdk/server/express";
import express from "express";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { newUser, type User } from "../../stack/client.ts";
import { json, type Listening, listen } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { toolOf } from "../../unit/runs/protocols-support.ts";
import { addAgent, addRun, addSuite, KEY } from "./support.ts";

type Asked = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

let service: TestService;
let owner: User;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "pro" });
});

afterAll(() => service.stop());

const CALLS_TOOL = {
  output_format: "tool_calls",
  tools: JSON.stringify([toolOf("weather.now")]),
  grader: { type: "tool_calls", order: "strict" },
  expected_output: JSON.stringify([{ name: "weather.now", arguments: { city: ["Bergen"] } }]),
};
/** In the order of keys in which the database gives it back. */
const SCHEMA = { type: "object", required: ["sum"], properties: { sum: { type: "number" } } };
const ONE_TURN =
  "Tool calls bring no result back: make all that are needed in this one answer, in the order in which they are to happen.";
const IN_WORDS = `Answer in JSON that is valid against this JSON Schema:\n${JSON.stringify(SCHEMA)}`;
const WANTS_JSON = {
  output_format: "json",
  output_schema: JSON.stringify(SCHEMA),
  input: JSON.stringify([6, 7]),
  grader: { type: "json_fields" },
  expected_output: JSON.stringify({ sum: 42 }),
};

/** Runs one task of these columns to its end, and reads what anybody can see of it. */
async function screen(agentId: string, columns: Record<string, unknown> = {}) {
  const { tasks } = await addSuite(service, 1, { columns });
  const id = await addRun(owner, agentId, tasks[0] ?? "");
  await service.settled();
  const run = (await owner.call("GET", `/api/v1/runs/${id}`)).body;
  const evidence = (await owner.call("GET", `/api/v1/runs/${id}/evidence`)).body;
  return { run, evidence };
}

describe("an agent behind the chat completions API, by the types of the official client", () => {
  const prompt = "What is six times seven?";
  const seen: unknown[] = [];
  let server: Listening;
  let agent: string;

  /** Answers as the API does: calls the tool that it is given, else tells the answer in the format asked for. */
  function complete({ tools, response_format }: Asked): OpenAI.Chat.ChatCompletion {
    const [tool] = tools ?? [];
    const message: OpenAI.Chat.ChatCompletionMessage = {
      role: "assistant",
      refusal: null,
      content: tool ? null : response_format?.type === "json_schema" ? '{"sum": 42}' : KEY,
      ...(tool?.type === "function"
        ? {
            tool_calls: [
              {
                id: "call_1",
                type: "function",
                function: { name: tool.function.name, arguments: '{"city": "Bergen"}' },
              },
            ],
          }
        : {}),
    };
    return {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1_795_000_000,
      model: "gpt-4o-mini",
      choices: [{ index: 0, message, finish_reason: tool ? "tool_calls" : "stop", logprobs: null }],
      usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
    };
  }

  beforeAll(async () => {
    server = await listen(({ method, url, body }) => {
      if (method !== "POST" || url.pathname !== "/v1/chat/completions") return { status: 404 };
      const asked = JSON.parse(body.toString()) as Asked;
      seen.push(asked);
      // As servers do that stream unless they are told not to.
      if (asked.stream !== false) return { status: 200, body: "data: [DONE]\n\n" };
      return json(200, complete(asked));
    });
    agent = await addAgent(owner, { endpoint: `${server.url}/v1/chat/completions`, agent_protocol: "openai_chat" });
  });

  afterAll(() => server.close());

  const TASKS: [string, Record<string, unknown>, Asked][] = [
    ["text", {}, { model: "default", stream: false, messages: [{ role: "user", content: prompt }] }],
    [
      "JSON by a schema",
      WANTS_JSON,
      {
        model: "default",
        stream: false,
        messages: [{ role: "user", content: `${prompt}\n\ninput:\n[6,7]\n\n${IN_WORDS}` }],
        response_format: { type: "json_schema", json_schema: { name: "answer", schema: SCHEMA } },
      },
    ],
    [
      "tool calls",
      CALLS_TOOL,
      {
        model: "default",
        stream: false,
        messages: [{ role: "user", content: `${prompt}\n\n${ONE_TURN}` }],
        tools: [{ type: "function", function: { ...toolOf("weather.now"), name: "weather_now" } }],
      },
    ],
  ];

  it.each(TASKS)("passes a task that wants %s, priced and signed", async (_what, columns, asked) => {
    seen.splice(0);
    const { run, evidence } = await screen(agent, columns);
    expect(seen).toEqual([asked]);
    expect(run).toMatchObject({ status: "completed", passed: true, evidence_signed: true });
    expect(run).toMatchObject({ evidence_cost_source: "estimated", evidence_total_call_count: 1 });
    expect(run.evidence_cost_usd).toBeGreaterThan(0);
    expect(evidence).toMatchObject({
      verified: true,
      statement: { credentialSubject: { run: { agent_protocol: "openai_chat", status: "completed" } } },
    });
  });

  it.each(TASKS)("is served as the official client is: %s", async (_what, _columns, asked) => {
    seen.splice(0);
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "x", maxRetries: 0 });
    expect(await client.chat.completions.create(asked)).toMatchObject(complete(asked));
    expect(seen).toEqual([asked]);
  });
});

/** How an agent built with the official server answers. */
type Way = "message" | "task" | "polled" | "word" | "polled word" | "failed" | "rejected" | "throws";

const usage = { calls: [{ model: "m", input_tokens: 10, output_tokens: 1, cost_usd: 0.001 }] };

/** Keeps tasks as the official server does; one that is `due` is over when it is asked for the second time. */
class Tasks extends InMemoryTaskStore {
  readonly due = new Map<string, { asked: number; task: Task }>();

  override async load(id: string): Promise<Task | undefined> {
    const later = this.due.get(id);
    if (later === undefined) return super.load(id);
    later.asked += 1;
    return later.asked < 2 ? super.load(id) : later.task;
  }
}

function executorOf(way: Way, tasks: Tasks): AgentExecutor {
  return {
    cancelTask: () => Promise.resolve(),
    async execute({ taskId, contextId, userMessage }, bus) {
      const wanted = userMessage.parts.findLast((part) => part.kind === "data")?.data;
      const parts: Message["parts"] =
        wanted?.["output_format"] === "json" ? [{ kind: "data", data: { sum: 42 } }] : [{ kind: "text", text: KEY }];
      const message: Message = { kind: "message", role: "agent", messageId: randomUUID(), contextId, parts };
      const task = (state: Task["status"]["state"], rest: Partial<Task> = {}): Task => ({
        kind: "task",
        id: taskId,
        contextId,
        status: { state, timestamp: new Date().toISOString() },
        ...rest,
      });
      const done = { artifacts: [{ artifactId: "answer", parts }], metadata: { usage } };
      if (way === "throws") throw new Error("the model is not there");
      if (way === "message") bus.publish({ ...message, metadata: { usage } });
      if (way === "task") bus.publish(task("completed", done));
      if (way === "failed" || way === "rejected") bus.publish(task(way));
      if (way === "word") {
        const update = { kind: "status-update", taskId, contextId } as const;
        bus.publish(task("submitted"));
        bus.publish({
          ...update,
          status: { state: "working", message: { ...message, metadata: { usage } } },
          final: false,
        });
        bus.publish({ ...update, status: { state: "completed" }, final: true });
      }
      if (way === "polled" || way === "polled word") {
        const said = { history: [userMessage, { ...message, metadata: { usage } }] };
        tasks.due.set(taskId, { asked: 0, task: task("completed", way === "polled" ? done : said) });
        bus.publish(task("working"));
      }
      bus.finished();
    },
  };
}

describe("an agent built with the official Agent2Agent server", () => {
  const servers: Server[] = [];

  /** Serves one agent with its card at the place that the protocol names; resolves to its origin. */
  async function start(way: Way): Promise<string> {
    const tasks = new Tasks();
    const app = express();
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    servers.push(server);
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const card = {
      name: `Official ${way}`,
      description: "Knows one answer.",
      url: `${origin}/`,
      version: "1.2.3",
      protocolVersion: "0.3.0",
      capabilities: {},
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [{ id: "answer", name: "Answer", description: "Answers.", tags: [] }],
    };
    new A2AExpressApp(new DefaultRequestHandler(card, tasks, executorOf(way, tasks))).setupRoutes(app);
    return origin;
  }

  afterAll(async () => {
    for (const server of servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  const add = async (way: Way) => addAgent(owner, { endpoint: `${await start(way)}/`, agent_protocol: "a2a" });

  it("is registered by its card, tested, and passes by a message", async () => {
    const origin = await start("message");
    const made = await owner.call("POST", "/api/v1/registry/register", { url: origin });
    expect(made).toMatchObject({
      status: 201,
      body: { name: "Official message", agent_protocol: "a2a", endpoint: `${origin}/`, registry_status: "registered" },
    });
    const tested = await owner.call("POST", `/api/v1/agents/${made.body.id}/readiness/check`);
    expect(tested.body.endpoint).toMatchObject({ state: "ready" });
    const { run, evidence } = await screen(made.body.id);
    expect(run).toMatchObject({ status: "completed", passed: true, evidence_signed: true, evidence_cost_usd: 0.001 });
    expect(evidence).toMatchObject({
      verified: true,
      statement: { credentialSubject: { run: { agent_protocol: "a2a" } } },
    });
  });

  it.each<[Way, string, Record<string, unknown>]>([
    ["message", "JSON as data", WANTS_JSON],
    ["task", "text", {}],
    ["task", "JSON as data", WANTS_JSON],
    ["polled", "text, when it is asked for it again", {}],
    ["word", "text, said at work and not at its end", {}],
    ["polled word", "text, said at work, when it is asked for it again", {}],
  ])("passes by a %s: %s, with its cost, signed", async (way, _what, columns) => {
    const { run, evidence } = await screen(await add(way), columns);
    expect(run).toMatchObject({ status: "completed", passed: true, evidence_signed: true });
    expect(run).toMatchObject({ evidence_cost_usd: 0.001, evidence_cost_source: "self_reported" });
    expect(evidence.verified).toBe(true);
  });

  it.each<[Way]>([["failed"], ["rejected"], ["throws"]])("fails by its own word when its task is %s", async (way) => {
    // The official server says there that an agent has thrown.
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const { run, evidence } = await screen(await add(way));
    expect(run).toMatchObject({ status: "failed", failure_code: "agent_reported_failure", evidence_signed: true });
    expect(evidence.verified).toBe(true);
  });
});
