import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, KEY, startAgent, unique } from "../runs/support.ts";

/** What is used of the official SDK, which is a package of the clients that tests try. */
interface Result {
  isError?: boolean;
  content: { type: string; text: string }[];
  structuredContent?: Record<string, unknown>;
}
interface McpClient {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ tools: { name: string; description: string; inputSchema: { type: string } }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<Result>;
  getServerVersion(): { name: string; version: string } | undefined;
  ping(): Promise<unknown>;
  close(): Promise<void>;
}
type New<T> = new (...given: unknown[]) => T;
const require = createRequire(new URL("../../client/package.json", import.meta.url));
const { Client } = require("@modelcontextprotocol/sdk/client/index.js") as { Client: New<McpClient> };
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js") as {
  StreamableHTTPClientTransport: New<object>;
};

let service: TestService;
let owner: User;
let agent: Consumer;
let suite: string;
let writes: string;
let reads: string;
let calls = 0;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "pro" });
  suite = unique("mcp");
  await addSuite(service, 2, { slug: suite });
  // Of each two answers to tasks the second is wrong.
  agent = await startAgent(({ url, body }) => {
    if (url.pathname.endsWith("/completions")) return json(200, { choices: [{ message: { content: KEY } }] });
    return json(200, { output: isTest(body) || (calls += 1) % 2 === 1 ? KEY : "41" });
  });
  const key = async (scope: string) => (await owner.call("POST", "/api/v1/api-keys", { name: scope, scope })).body.key;
  [writes, reads] = [await key("write"), await key("read")];
});

afterAll(async () => {
  await agent.stop();
  await service.stop();
});

/** Whether a call is the one before a screening. */
const isTest = (body: Buffer): boolean => body.includes("This tests the connection.");

async function connect(key: string | null): Promise<McpClient> {
  const client = new Client({ name: "test", version: "1.0.0" });
  const headers = key === null ? {} : { authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit: { headers } }));
  return client;
}

/** Expects that a tool tells the holder of a key what is wrong. */
async function isRefused(key: string, name: string, given: Record<string, unknown>, message: RegExp): Promise<void> {
  const client = await connect(key);
  const { isError, content } = await client.callTool({ name, arguments: given });
  expect([isError, content[0]?.text]).toEqual([true, expect.stringMatching(message)]);
  await client.close();
}

const post = (body: unknown, headers: Record<string, string> = {}) =>
  caller(service, { "x-api-key": reads }).call("POST", "/mcp", body, headers);

describe("the official client", () => {
  it("is refused a screening by a key without runs:write before an agent is registered for it", async () => {
    const scopes = ["agents:write", "runs:read"];
    const { key } = (await owner.call("POST", "/api/v1/api-keys", { name: unique("Narrow"), scopes })).body;
    const endpoint = `${agent.url}/unknown`;
    await isRefused(key, "screen_agent", { endpoint, suite }, /^insufficient_scope: .*runs:write/);
    const { body } = await owner.call("GET", `/api/v1/agents?endpoint=${encodeURIComponent(endpoint)}`);
    expect(body.total).toBe(0);
  });

  it("finds the tools, screens a real agent, follows it, and is told why a run was not passed", async () => {
    const client = await connect(writes);
    expect(client.getServerVersion()).toMatchObject({ name: "agent-screening" });
    await client.ping();
    const { tools } = await client.listTools();
    // Many clients and models resolve no reference within a tool's arguments.
    expect(JSON.stringify(tools)).not.toMatch(/"\$(ref|defs|schema)"/);
    // Gemini's API refuses whatever is asked of it with a function one of whose texts has such a format.
    expect(JSON.stringify(tools)).not.toMatch(/"format"/);
    expect(tools.map(({ name }) => name)).toEqual([
      "screen_agent",
      "screening_status",
      "explain_failures",
      "board",
      "compare",
    ]);
    const screen = { name: "screen_agent", arguments: { endpoint: agent.url, suite, idempotency_key: "once" } };
    // Whoever sends it twice, even at once, starts it once; the one that comes too early is told to wait.
    const both = await Promise.all([client.callTool(screen), client.callTool(screen)]);
    const [started] = both.filter(({ isError }) => isError !== true);
    for (const { isError, content } of both)
      if (isError === true) expect(content[0]?.text).toMatch(/idempotency|duplicate_name/);
    expect(started?.structuredContent).toMatchObject({ runs: 2, status: "queued" });
    const { session_id, agent_id } = started?.structuredContent ?? {};
    await service.settled();
    expect((await client.callTool(screen)).structuredContent?.["session_id"]).toBe(session_id);
    const status = await client.callTool({ name: "screening_status", arguments: { session_id } });
    expect(status.structuredContent).toMatchObject({
      status: "completed",
      runs: 2,
      counts: { completed: 2, passed: 1 },
    });
    const why = await client.callTool({ name: "explain_failures", arguments: { session_id } });
    expect(why.structuredContent).toMatchObject({
      not_passed: 1,
      failures: [{ prompt: "What is six times seven?", reason: expect.stringMatching(/./), correctness: 0 }],
    });
    expect(JSON.parse(why.content[0]?.text ?? "")).toEqual(why.structuredContent);
    // Many models write null for what they leave out, and not every client takes it out again.
    const board = await client.callTool({ name: "board", arguments: { limit: 3, domain: null, period: null } });
    expect(board.structuredContent).toMatchObject({ total: expect.any(Number), items: expect.any(Array) });
    const rival = await addAgent(owner);
    const pairs = await client.callTool({ name: "compare", arguments: { agent_ids: [agent_id, rival] } });
    expect(pairs.structuredContent).toMatchObject({ pairs: [{ a: agent_id, b: rival }] });
    await client.close();
  });

  it("has a new agent called by the protocol that it names", async () => {
    const client = await connect(writes);
    const asked = { endpoint: `${agent.url}/v1/chat/completions`, suite, protocol: "openai_chat" };
    const { structuredContent } = await client.callTool({ name: "screen_agent", arguments: asked });
    const { body } = await owner.call("GET", `/api/v1/agents/${String(structuredContent?.["agent_id"])}`);
    expect(body.agent_protocol).toBe("openai_chat");
    await service.settled();
    await client.close();
  });

  it("is refused without a key, and told how to show one", async () => {
    await expect(connect(null)).rejects.toThrow();
    await expect(connect("ask_nobodys")).rejects.toThrow();
    const answer = await caller(service).call("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "ping" });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  it.each([
    ["a key without the right", "screen_agent", () => ({ endpoint: agent.url, suite }), /^insufficient_scope: /],
    [
      "a protocol for an agent that has one",
      "screen_agent",
      () => ({ agent_id: crypto.randomUUID(), suite, protocol: "a2a" }),
      /protocol with endpoint alone/,
    ],
    ["neither agent nor endpoint", "screen_agent", () => ({ suite }), /agent_id or endpoint/],
    ["an id that is none", "screening_status", () => ({ session_id: "x" }), /Give a UUID[^]* session_id/],
    ["a session that is not there", "explain_failures", () => ({ session_id: crypto.randomUUID() }), /^not_found: /],
    ["an argument that is not known", "board", () => ({ limits: 3 }), /Remove .*: limits\./],
    ["one agent alone", "compare", () => ({ agent_ids: [crypto.randomUUID()] }), /Give 2 to 10 items[^]* agent_ids/],
  ])("reads in the tool's result what is wrong: %s", (_what, name, given, message) =>
    isRefused(reads, name, given(), message),
  );

  it.each([
    [
      "another protocol than that of the agent there",
      { protocol: "a2a" },
      /^conflicting_parameters: The agent there is called by native, not by a2a/,
    ],
    ["a suite that is not there", { suite: "no" }, /^suite_unavailable: .*core/],
  ])("is refused a screening by %s", (_what, given, message) =>
    isRefused(writes, "screen_agent", { endpoint: agent.url, suite, ...given }, message),
  );

  it("is told of a tool that is not there", async () => {
    const client = await connect(reads);
    await expect(client.callTool({ name: "format_disk", arguments: {} })).rejects.toThrow(/no such tool/);
    await client.close();
  });
});

describe("a message", () => {
  it.each([
    ["no JSON", "{", -32_700],
    ["no UTF-8", Buffer.from('{"jsonrpc":"2.0","id":1,"method":"é"}', "latin1"), -32_700],
    ["a batch", [{ jsonrpc: "2.0", id: 1, method: "ping" }], -32_600],
    ["another version of JSON-RPC", { jsonrpc: "1.0", id: 1, method: "ping" }, -32_600],
  ])("that is none is 400 with a JSON-RPC error: %s", async (_what, body, code) => {
    const answer = await post(body);
    expect([answer.status, answer.body.error.code, answer.body.id]).toEqual([400, code, null]);
  });

  it("gets an error by its id where the method is not known, and none where it is a notification", async () => {
    const unknown = await post({ jsonrpc: "2.0", id: "seven", method: "resources/list" });
    expect([unknown.status, unknown.body]).toMatchObject([200, { id: "seven", error: { code: -32_601 } }]);
    const told = await post({ jsonrpc: "2.0", method: "notifications/initialized" });
    expect([told.status, told.text]).toEqual([202, ""]);
  });

  it("may have null for params and arguments, as many clients write those that are left out", async () => {
    const listed = await post({ jsonrpc: "2.0", id: 1, method: "tools/list", params: null });
    expect(listed.body.result.tools).toHaveLength(5);
    const params = { name: "board", arguments: null };
    const { body } = await post({ jsonrpc: "2.0", id: 2, method: "tools/call", params });
    expect(body.result.structuredContent).toMatchObject({ items: expect.any(Array) });
  });

  it.each([
    ["2025-06-18", "2025-06-18"],
    ["2025-11-25", "2025-11-25"],
    ["2025-03-26", "2025-03-26"],
    ["2024-11-05", "2024-11-05"],
    ["2026-07-28", "2025-11-25"],
  ])("of a client that speaks %s agrees on %s", async (protocolVersion, agreed) => {
    const { body } = await post({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion } });
    expect(body.result).toMatchObject({ protocolVersion: agreed, capabilities: { tools: {} } });
    const list = { jsonrpc: "2.0", id: 2, method: "tools/list" };
    expect((await post(list, { "mcp-protocol-version": agreed })).status).toBe(200);
  });

  it("from a page of another origin, of another version, or by GET is refused", async () => {
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    const foreign = await post(ping, { origin: "https://evil.example" });
    expect([foreign.status, foreign.body.code]).toEqual([403, "cross_site_request"]);
    expect((await post(ping, { origin: service.url })).status).toBe(200);
    expect((await post(ping, { "mcp-protocol-version": "1999-01-01" })).status).toBe(400);
    expect((await caller(service).call("GET", "/mcp")).status).toBe(405);
  });
});
