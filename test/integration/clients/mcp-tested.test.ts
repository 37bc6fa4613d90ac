import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addSuite, answersRightly, startAgent, unique } from "../runs/support.ts";

const TASKS = 2;
let service: TestService;
let owner: User;
let agent: Consumer;
let suite: string;
let key: string;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "pro" });
  suite = unique("tested");
  await addSuite(service, TASKS, { slug: suite });
  agent = await startAgent();
  key = (await owner.call("POST", "/api/v1/api-keys", { name: "all", scope: "write", rate_limit_per_minute: 6000 }))
    .body.key;
});

beforeEach(() => {
  agent.answer = answersRightly;
  agent.seen.splice(0);
});

afterAll(async () => {
  await service.settled();
  await agent.stop();
  await service.stop();
});

const at = (path: string) => new URL(path, agent.url).href;

/** What `screen_agent` gives: its text where it failed, else its data. */
async function screened(given: object, by = key): Promise<{ said: string; data: Record<string, unknown> }> {
  const params = { name: "screen_agent", arguments: { suite, ...given } };
  const sent = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const { isError, content, structuredContent } = (
    await caller(service, { "x-api-key": by }).call("POST", "/mcp", sent)
  ).body.result;
  return { said: isError === true ? content[0].text : "", data: structuredContent ?? {} };
}

/** How many agents, sessions and runs there are, and what is taken of the allowance. */
async function counted(): Promise<unknown> {
  const [counts] = await service.sql(
    `select (select count(*) from agents)::int as agents, (select count(*) from screening_sessions)::int as sessions,
            (select count(*) from runs)::int as runs, (select coalesce(sum(used), 0) from allowances)::int as used`,
  );
  return counts;
}

it("a new agent that surely fails is neither registered nor screened, and the tool says what mends it", async () => {
  const before = await counted();
  agent.answer = () => json(404, {});
  const { said } = await screened({ endpoint: at("/new") });
  expect(said).toMatch(/^agent_http_error: .*HTTP status 404.*\n.*none is spent.*skip_test/);
  expect(await counted()).toEqual(before);
  expect(agent.seen).toHaveLength(2);

  agent.answer = answersRightly;
  agent.seen.splice(0);
  const { data } = await screened({ endpoint: at("/new") });
  expect(data).toEqual({ agent_id: expect.any(String), session_id: expect.any(String), runs: TASKS, status: "queued" });
  await service.settled();
  expect(agent.seen).toHaveLength(TASKS + 1);
});

it("a new agent is tested by the protocol that is named", async () => {
  const { said } = await screened({ endpoint: at("/chat"), protocol: "openai_chat" });
  expect(said).toMatch(/^agent_invalid_response: /);
});

it.each([
  ["is not there", () => json(404, {}), "agent_http_error"],
  ["answers in a wrong form", () => ({ status: 200, body: "Hello" }), "agent_invalid_response"],
  ["redirects", () => ({ status: 302, headers: { location: "/" }, body: "" }), "agent_redirected"],
])("of a registered agent that %s no run is spent, unless skip_test says so", async (_what, answer, code) => {
  const agent_id = (await owner.call("POST", "/api/v1/agents", { name: code, endpoint: at(`/${code}`) })).body.id;
  const before = await counted();
  agent.answer = answer;
  expect((await screened({ agent_id })).said).toMatch(new RegExp(`^${code}: `));
  expect((await screened({ endpoint: at(`/${code}`) })).said).toMatch(new RegExp(`^${code}: `));
  expect(await counted()).toEqual(before);
  agent.seen.splice(0);
  expect((await screened({ agent_id, skip_test: true })).data).toMatchObject({ runs: TASKS });
  await service.settled();
  expect(agent.seen).toHaveLength(TASKS);
});

it("one call that fails stops nothing, nor does an agent that says it failed, of which it is told", async () => {
  let calls = 0;
  agent.answer = (call) => (calls++ === 0 ? json(500, {}) : answersRightly(call));
  const flaky = (await screened({ endpoint: at("/flaky") })).data;
  expect([flaky["runs"], flaky["note"]]).toEqual([TASKS, undefined]);
  agent.answer = ({ body }) => {
    const { id } = JSON.parse(body.toString()) as { id: string };
    return json(200, { jsonrpc: "2.0", id, error: { code: -32603, message: "no task of mine" } });
  };
  const choosy = (await screened({ endpoint: at("/choosy"), protocol: "a2a" })).data;
  expect(choosy).toMatchObject({ runs: TASKS, note: expect.stringContaining("agent_reported_failure: ") });
  expect(choosy["note"]).not.toContain("no task of mine");
});

it("what is sent again with its key is answered as before, though the agent is down by now", async () => {
  const given = { endpoint: at("/again"), idempotency_key: "again" };
  const { data } = await screened(given);
  await service.settled();
  const before = await counted();
  agent.answer = () => json(503, {});
  expect(await screened(given)).toEqual({ said: "", data });
  expect((await screened({ ...given, idempotency_key: "another" })).said).toMatch(/^agent_http_error: /);
  expect(await counted()).toEqual(before);
});

it("an endpoint that the service does not call is refused, and what a key may not test is screened", async () => {
  expect((await screened({ endpoint: "http://agent.example/" })).said).toMatch(/^endpoint_not_allowed: /);
  const scopes = ["runs:write"];
  const narrow = (await owner.call("POST", "/api/v1/api-keys", { name: "narrow", scopes })).body.key;
  const agent_id = (await owner.call("POST", "/api/v1/agents", { name: "unread", endpoint: at("/unread") })).body.id;
  agent.answer = () => json(404, {});
  const { data } = await screened({ agent_id }, narrow);
  expect(data).toMatchObject({
    runs: TASKS,
    note: expect.stringMatching(/^The agent was not tested first: .*agents:read/),
  });
});
