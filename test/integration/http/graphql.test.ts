import { getIntrospectionQuery } from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, from, startAgent, type TestSuite } from "../runs/support.ts";

const AGENT = `id name description hasEndpoint connectionRetired verifiedState compositeScore simulated scoreBasis registryStatus isPublic
  variantOf stats { totalRuns successfulRuns failedRuns avgLatencyMs avgCostUsd bestTask { taskId title passRate }
  worstTask { taskId } recentRuns { id status passed } }`;
const NOBODYS = "01938e7a-0000-7000-8000-000000000009";

let service: TestService;
let endpoint: Consumer;
let owner: User;
let anonymous: Caller;
let open: string;
let hidden: string;
let variant: string;
let suite: TestSuite;
let secret: TestSuite;

beforeAll(async () => {
  service = await startService();
  endpoint = await startAgent();
  owner = await newUser(service, { plan: "pro" });
  anonymous = caller(service, from(1));
  suite = await addSuite(service, 2);
  secret = await addSuite(service, 1, { secret: true });
  open = await addAgent(owner, { name: "Open", endpoint: endpoint.url, description: "Answers" });
  variant = await addAgent(owner, { name: "Variant", endpoint: endpoint.url, variant_of: open });
  hidden = await addAgent(owner, { name: "Hidden", endpoint: endpoint.url, is_public: false });
  for (const agent_id of [open, variant, hidden]) {
    await owner.call("POST", "/api/v1/runs/batch", { agent_id, task_ids: suite.tasks });
  }
  await service.settled();
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

async function ask(who: Caller, query: string, variables: Record<string, unknown> = {}) {
  const before = service.counters.snapshot().db.requests;
  const answer = await who.call("POST", "/graphql", { query, variables });
  return { ...answer, roundTrips: service.counters.snapshot().db.requests - before };
}

/** The same fact under the name that GraphQL gives it. */
function camel(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camel);
  if (typeof value !== "object" || value === null) return value;
  const name = (key: string) => key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [name(key), camel(inner)]));
}

describe("a query", () => {
  it("says of an agent, its record, the board, tasks, suites and the frontier what REST says", async () => {
    const { body, status, headers, roundTrips } = await ask(
      anonymous,
      `query ($id: ID!, $task: ID!) {
        agent(id: $id) { ${AGENT} }
        agents(pageSize: 1) { items { ${AGENT} } total page pageSize }
        leaderboard { items { rank rankLow rankHigh agentId name verifiedState simulated scoreBasis compositeScore scoreLow scoreHigh
          successRate reliability costEfficiency axes { correctness latency cost toolEfficiency robustness } runs tasks
          evidenceCostFloorApplied askedRuns uneven memorisationGap { value low high canaryRuns } memorised variants lastRunAt } total page pageSize }
        task(id: $task) { id title domain instances template { id version } prompt input outputFormat outputSchema tools graderType suiteId suiteVersion
          isActive isSecret timeLimitMs referenceCostUsd referenceLatencyMs expectedToolCalls passThreshold createdAt }
        tasks(domain: math, page: 2, pageSize: 2) { items { id } total page pageSize }
        suites { id slug name description version isSecret taskCount domains }
        frontier(agentId: $id) { rootId members { agentId name isRoot isHired passRate passK { k1 k2 k3 k5 } meanCostPerTaskUsd pricedRuns
          provenance model runs onFrontier } }
      }`,
      { id: open, task: suite.tasks[0] },
    );
    expect(body.errors).toBeUndefined();
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("application/json");
    expect(roundTrips).toBe(1);

    const rest = async (path: string) => camel((await anonymous.call("GET", path)).body) as Record<string, never>;
    const [agent, stats, board, task, tasks, suites, frontier] = await Promise.all([
      rest(`/api/v1/agents/${open}`),
      rest(`/api/v1/agents/${open}/stats`),
      rest("/api/v1/leaderboard"),
      rest(`/api/v1/tasks/${suite.tasks[0]}`),
      rest("/api/v1/tasks?domain=math&page=2&page_size=2"),
      rest("/api/v1/suites?page_size=100"),
      rest(`/api/v1/agents/${open}/frontier`),
    ]);
    const { data } = body;
    const { stats: record, ...shown } = data.agent;
    expect(agent).toMatchObject(shown);
    expect(data.agent.compositeScore).toBeGreaterThan(0);
    expect(stats).toMatchObject(record);
    expect(record).toMatchObject({ totalRuns: 2, successfulRuns: 2, bestTask: { passRate: 1 } });
    expect(data.agents).toMatchObject({ total: 2, page: 1, pageSize: 1, items: [{ id: variant, variantOf: open }] });
    expect(data.agents.items[0].stats.recentRuns.map((run: { status: string }) => run.status)).toEqual([
      "completed",
      "completed",
    ]);
    expect(data.leaderboard).toEqual(board);
    expect(data.leaderboard.items.length).toBe(2);
    expect(data.task).toEqual(task);
    expect(tasks).toMatchObject(data.tasks);
    expect(data.tasks.items.length).toBe(2);
    expect({ items: data.suites }).toEqual({ items: suites["items"] });
    const { passK: _rest, ...member } = frontier["members"]?.[0] ?? { passK: null };
    expect(data.frontier).toMatchObject({
      rootId: open,
      members: [{ ...member, passK: { k1: 1 } }, { name: "Variant" }],
    });
  });

  it("finds the record of an agent however the document asks for it, without a second round trip", async () => {
    const { body, roundTrips } = await ask(
      anonymous,
      `query ($id: ID!) { one: agent(id: $id) { ...a } two: agent(id: $id) { ... on Agent { more: stats { totalRuns } } }
        agents { ...p } } fragment p on AgentPage { items { ...a } } fragment a on Agent { ...b } fragment b on Agent {
        stats { totalRuns } }`,
      { id: open },
    );
    expect(body).toMatchObject({
      data: { one: { stats: { totalRuns: 2 } }, two: { more: { totalRuns: 2 } }, agents: { items: [{}, {}] } },
    });
    expect(body.data.agents.items.every(({ stats }: { stats: { totalRuns: number } }) => stats.totalRuns === 2)).toBe(
      true,
    );
    expect(roundTrips).toBe(1);
  });

  it("shows owners their private agents and nobody else anything of them", async () => {
    const query =
      "query ($id: ID!) { agent(id: $id) { name isPublic } agents { items { id } } frontier(agentId: $id) { rootId } }";
    const own = await ask(owner, query, { id: hidden });
    expect(own.body.data).toMatchObject({ agent: { name: "Hidden", isPublic: false }, frontier: { rootId: hidden } });
    expect(own.body.data.agents.items.map(({ id }: { id: string }) => id).toSorted()).toEqual(
      [open, hidden, variant].toSorted(),
    );
    const stranger = await newUser(service);
    for (const who of [anonymous, stranger]) {
      const { body: unseen } = await ask(who, query, { id: hidden });
      const { body: unknown } = await ask(who, query, { id: NOBODYS });
      expect(unseen).toEqual(unknown);
      expect(unseen.data.agent).toBeNull();
      expect(unseen.errors.map((error: { extensions: unknown }) => error.extensions)).toEqual([
        { code: "not_found" },
        { code: "not_found" },
      ]);
    }
  });

  it("hides what a secret task says", async () => {
    const { body } = await ask(anonymous, "query ($id: ID!) { task(id: $id) { title isSecret prompt input } }", {
      id: secret.tasks[0],
    });
    expect(body.data.task).toMatchObject({ isSecret: true, prompt: null, input: null });
  });

  it.each([
    ["an id that is none", `{ agent(id: "x") { id } }`],
    ["a page size over 100", "{ tasks(pageSize: 101) { total } }"],
    ["a page before the first", "{ agents(page: 0) { total } }"],
    ["a page that is null", "{ agents(page: null) { total } }"],
    ["a period that is none", `{ leaderboard(period: "1y") { total } }`],
  ])("refuses %s by a code and answers the fields beside it", async (_what, query) => {
    const { body, roundTrips } = await ask(anonymous, query.replace("{", "{ suites { slug }"));
    expect(body.errors).toMatchObject([{ extensions: { code: "validation_failed" }, path: [expect.any(String)] }]);
    expect(body.data.suites.length).toBeGreaterThan(0);
    expect(roundTrips).toBe(1);
  });

  it("has narrow agents, no mutations, and tells all of its types by introspection without the database", async () => {
    const { body, roundTrips } = await ask(owner, getIntrospectionQuery());
    expect(body.errors).toBeUndefined();
    expect(roundTrips).toBe(0);
    const { types, queryType, mutationType, subscriptionType } = body.data.__schema;
    const fields = (type: string): string[] =>
      types.find(({ name }: { name: string }) => name === type).fields.map(({ name }: { name: string }) => name);
    expect([mutationType, subscriptionType]).toEqual([null, null]);
    expect(fields(queryType.name).toSorted()).toEqual([
      "agent",
      "agents",
      "frontier",
      "leaderboard",
      "suites",
      "task",
      "tasks",
    ]);
    expect(fields("Agent").toSorted()).toEqual(
      "compositeScore connectionRetired description hasEndpoint id isPublic memorisationGap memorised name registryStatus scoreBasis simulated stats uneven variantOf verifiedState".split(
        " ",
      ),
    );
  });
});

describe("GraphQL over HTTP", () => {
  const GRAPHQL_JSON = "application/graphql-response+json";

  it.each([
    [undefined, "application/json", 200],
    ["application/json", "application/json", 200],
    ["*/*", "application/json", 200],
    ["application/*", "application/json", 200],
    ["text/html, */*;q=0.1", "application/json", 200],
    ["application/json;q=0, */*", GRAPHQL_JSON, 400],
    [`application/json;q=0.5, ${GRAPHQL_JSON}`, GRAPHQL_JSON, 400],
    [`${GRAPHQL_JSON};q=0, application/json`, "application/json", 200],
    [GRAPHQL_JSON, GRAPHQL_JSON, 400],
    [`${GRAPHQL_JSON}; charset=utf-8, application/json;q=0.9`, GRAPHQL_JSON, 400],
  ])("with Accept %s answers as %s, and a refused document as %i", async (accept, type, status) => {
    const headers: Record<string, string> = accept === undefined ? {} : { accept };
    for (const query of [
      "{",
      "{ agent(id: 1) { endpoint } }",
      "{ suites { slug } } { suites { slug } }",
      "mutation { a }",
    ]) {
      const refused = await anonymous.call("POST", "/graphql", { query }, headers);
      expect([refused.status, refused.headers.get("content-type")]).toEqual([status, type]);
      expect(refused.body.data).toBeUndefined();
      const codes = refused.body.errors.map((error: { extensions: { code: string } }) => error.extensions.code);
      expect(new Set(codes)).toEqual(new Set(["validation_failed"]));
      expect(refused.text).not.toContain("stack");
    }
    const wrong = await anonymous.call("POST", "/graphql", { query: "{ agents(pageSize: 0) { page } }" }, headers);
    expect(wrong.body.errors[0].message).toBe("pageSize: Give a whole number from 1 to 100.");
    const partial = await anonymous.call("POST", "/graphql", { query: `{ agent(id: "${NOBODYS}") { id } }` }, headers);
    expect([partial.status, partial.headers.get("content-type")]).toEqual([200, type]);
    expect(partial.headers.get("vary")).toContain("Accept");
  });

  it("runs the operation that is named", async () => {
    const query = "query a { suites { slug } } query b { agents { total } }";
    const { body } = await anonymous.call("POST", "/graphql", { query, operationName: "b" });
    expect(body).toEqual({ data: { agents: { total: 2 } } });
    expect((await anonymous.call("POST", "/graphql", { query, operationName: "c" })).body.errors.length).toBe(1);
  });

  it.each<[string, unknown, number, string]>([
    ["a batch", [{ query: "{ suites { slug } }" }], 400, "invalid_graphql_request"],
    ["no document", {}, 400, "invalid_graphql_request"],
    ["a member that is none of GraphQL's", { query: "{ __typename }", mutation: 1 }, 400, "invalid_graphql_request"],
    ["half of a body", '{"query":', 400, "malformed_json"],
    ["64 KiB and more", { query: `{ __typename } #${"x".repeat(64 * 1024)}` }, 413, "payload_too_large"],
  ])("refuses %s by a problem", async (_what, sent, status, code) => {
    const answer = await anonymous.call("POST", "/graphql", sent);
    expect([answer.status, answer.body.code, answer.headers.get("content-type")]).toEqual([
      status,
      code,
      "application/problem+json",
    ]);
  });

  it("is not served by GET", async () => {
    const { status, headers } = await anonymous.call("GET", "/graphql?query={suites{slug}}");
    expect([status, headers.get("allow")]).toEqual([405, "POST"]);
  });

  it.each([
    ["one read", "{ suites { slug } }"],
    ["many reads", "{ suites { slug } agents { total } }"],
  ])("is 503 when the database does not answer to %s, and says nothing else", async (_what, query) => {
    service.faults.set({ service: "db", mode: "down", count: 1 });
    const { status, body, headers } = await anonymous.call("POST", "/graphql", { query });
    expect([status, body.code]).toEqual([503, "dependency_unavailable"]);
    expect(headers.get("retry-after")).toBe("5");
    expect((await anonymous.call("POST", "/graphql", { query })).status).toBe(200);
  });
});
