import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, answersRightly, from, startAgent } from "../runs/support.ts";

const VALUE = "Bearer kept-for-the-endpoint-alone";
const HEADER = { name: "X-Gateway-Key", value: VALUE };

let service: TestService;
let agent: Consumer;
let owner: User;
let task: string;

beforeAll(async () => {
  service = await startService();
  agent = await startAgent();
  owner = await newUser(service, { plan: "team" });
  [task = ""] = (await addSuite(service, 1)).tasks;
});

beforeEach(() => {
  agent.seen.splice(0);
  agent.answer = answersRightly;
});

afterAll(async () => {
  await agent.stop();
  await service.stop();
});

const read = async (id: string) => (await owner.call("GET", `/api/v1/agents/${id}`)).body;
const change = (id: string, fields: object) => owner.call("PATCH", `/api/v1/agents/${id}`, fields);
/** What came as the header of each request that the endpoint got since it was last asked for. */
const sent = () => agent.seen.splice(0).map(({ headers }) => headers["x-gateway-key"]);

/** The tables in which a text stands anywhere. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await service.sql<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const [row] = await service.sql(`select from "${name}" x where strpos(x::text, $1) > 0 limit 1`, [text]);
    if (row !== undefined) found.push(name);
  }
  return found;
}

describe("the header that an endpoint asks for", () => {
  it("goes with everything that is sent to the endpoint", async () => {
    const id = await addAgent(owner, { endpoint: agent.url, auth_header: HEADER });
    const run = await addRun(owner, id, task);
    await service.settled();
    expect((await owner.call("GET", `/api/v1/runs/${run}`)).body).toMatchObject({
      status: "completed",
      passed: true,
    });
    expect(sent()).toEqual([VALUE]);
    expect((await owner.call("POST", `/api/v1/agents/${id}/readiness/check`)).body.endpoint.state).toBe("ready");
    await owner.call("POST", "/api/v1/integrations/test-connection", { endpoint: agent.url, auth_header: HEADER });
    expect(sent()).toEqual([VALUE, VALUE]);

    let polls = 0;
    agent.answer = ({ body }) => {
      polls += 1;
      const state = polls < 3 ? "working" : "completed";
      const artifacts = [{ artifactId: "a", parts: [{ kind: "text", text: "42" }] }];
      const { id: call } = JSON.parse(body.toString());
      return json(200, {
        jsonrpc: "2.0",
        id: call,
        result: { kind: "task", id: "t", contextId: "c", status: { state }, artifacts },
      });
    };
    const polled = await addAgent(owner, { endpoint: agent.url, agent_protocol: "a2a", auth_header: HEADER });
    await addRun(owner, polled, task);
    await service.settled();
    expect(sent()).toEqual([VALUE, VALUE, VALUE]);
  });

  it("is shown by its name to those who may change the agent, and its value to nobody", async () => {
    const id = await addAgent(owner, { endpoint: agent.url, auth_header: HEADER });
    const one = await addRun(owner, id, task);
    const bulk = await owner.call("POST", "/api/v1/agents/bulk", {
      rows: [{ name: "In bulk", endpoint: agent.url, auth_header: HEADER }],
    });
    await service.settled();
    const paths = [
      `/api/v1/agents/${id}`,
      "/api/v1/agents",
      `/api/v1/agents/${id}/readiness`,
      `/api/v1/runs/${one}`,
      `/api/v1/runs/${one}/output`,
      `/api/v1/runs/${one}/evidence`,
    ];
    const seen = await Promise.all(paths.map((path) => owner.call("GET", path)));
    expect(seen.map(({ status }) => status)).toEqual(paths.map(() => 200));
    expect(seen[0]?.body.auth_header_name).toBe(HEADER.name);
    for (const { text } of [...seen, bulk, await change(id, { description: "new" })]) expect(text).not.toContain(VALUE);
    const stranger = (await caller(service).call("GET", `/api/v1/agents/${id}`)).text;
    expect(stranger).not.toMatch(/auth_header/);
    expect(await tablesWith(VALUE)).toEqual([]);
    expect(service.logs.filter((line) => line.includes(VALUE))).toEqual([]);
    expect(await tablesWith(HEADER.name)).toContain("agents");
  });

  it("stays at the origin that it was given for", async () => {
    const id = await addAgent(owner, { endpoint: `${agent.url}/one`, auth_header: HEADER });
    const elsewhere = await startAgent();
    try {
      const { status, body } = await change(id, { endpoint: `${elsewhere.url}/one` });
      expect([status, body.errors]).toMatchObject([422, [{ pointer: "/auth_header", code: "validation_failed" }]]);
      expect(await read(id)).toMatchObject({ endpoint: `${agent.url}/one`, auth_header_name: HEADER.name });
      expect((await change(id, { endpoint: `${agent.url}/two` })).body.auth_header_name).toBe(HEADER.name);
      const moved = await change(id, { endpoint: elsewhere.url, auth_header: { name: "X-Other", value: "v" } });
      expect(moved.body.auth_header_name).toBe("X-Other");
      await addRun(owner, id, task);
      await service.settled();
      expect(elsewhere.seen.map(({ headers }) => [headers["x-other"], headers["x-gateway-key"]])).toEqual([
        ["v", undefined],
      ]);
      expect((await change(id, { endpoint: agent.url, auth_header: null })).body.auth_header_name).toBeNull();
    } finally {
      await elsewhere.stop();
    }
  });

  it("is gone with the endpoint, and with the agent", async () => {
    const [first, second] = [
      await addAgent(owner, { endpoint: agent.url, auth_header: HEADER }),
      await addAgent(owner, { endpoint: agent.url, auth_header: HEADER }),
    ];
    await change(first, { endpoint: null, connection_mode: "mock" });
    await owner.call("DELETE", `/api/v1/agents/${second}`);
    const kept = await service.sql("select auth_header from agents where id = any($1)", [[first, second]]);
    expect(kept).toEqual([{ auth_header: null }, { auth_header: null }]);
    expect((await change(first, { auth_header: HEADER })).body.errors[0]).toMatchObject({ pointer: "/auth_header" });
    expect((await owner.call("POST", "/api/v1/agents", { name: "No endpoint", auth_header: HEADER })).status).toBe(422);
  });

  it("is gone for good with an agent that was switched off before it was deleted", async () => {
    const id = await addAgent(owner, { endpoint: agent.url, auth_header: HEADER });
    await service.sql("update agents set customer_llm_provider = 'acme' where id = $1", [id]);
    await change(id, { is_active: false });
    const deleted = async () => {
      expect((await owner.call("DELETE", `/api/v1/agents/${id}`)).status).toBe(204);
      return await service.sql("select updated_at from agents where id = $1", [id]);
    };
    const once = await deleted();
    expect(await deleted()).toEqual(once);
    const gone = { auth_header_name: null, customer_llm_provider: null };
    expect((await change(id, { is_active: true })).body).toMatchObject({ is_active: true, ...gone });
    await addRun(owner, id, task);
    await service.settled();
    expect(sent()).toEqual([undefined]);
  });

  it.each<[string, unknown]>([
    ["one that the service sends itself", { name: "Content-Type", value: "text/plain" }],
    ["one of the signature", { name: "SIGNATURE-input", value: "sig1=()" }],
    ["one that steers the connection", { name: "Transfer-Encoding", value: "chunked" }],
    ["one of what stands between", { name: "CF-Connecting-IP", value: "127.0.0.1" }],
    ["the run's id", { name: "X-Service-Run-Id", value: "1" }],
    ["a second line", { name: "X-Key", value: "a\r\nHost: b" }],
    ["a name of two words", { name: "X Key", value: "a" }],
    ["a name that ends", { name: "X-Key:", value: "a" }],
    ["no name", { name: "", value: "a" }],
    ["no value", { name: "X-Key", value: "" }],
    ["a value of spaces", { name: "X-Key", value: "  " }],
    ["what is no ASCII", { name: "X-Key", value: "schlüssel" }],
    ["too much", { name: "X-Key", value: "a".repeat(4097) }],
    ["a third field", { name: "X-Key", value: "a", scheme: "Bearer" }],
    ["text", "X-Key: a"],
  ])("is refused where it is %s", async (_what, auth_header) => {
    const { status, body } = await owner.call(
      "POST",
      "/api/v1/integrations/test-connection",
      { endpoint: agent.url, auth_header },
      from(7),
    );
    expect([status, body.errors?.[0]?.pointer]).toEqual([422, expect.stringMatching(/^\/auth_header/)]);
    expect(agent.seen).toEqual([]);
  });
});
