import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, KEY, startAgent, unique } from "../runs/support.ts";

/** 8,000 characters: no model reads them as fewer than 1,000 tokens. */
const PROMPT = "ab".repeat(4000);
const REFERENCE_USD = 0.0001;
/** A tenth of gpt-5's 1.25 USD a million, and of the 0.035 of the cheapest model, for 1,000 tokens. */
const FLOOR = { "gpt-5": 0.000125, cheapest: 0.000004 };

interface Case {
  usage?: object;
  cost: number | null;
  source: string;
  floored: boolean;
  /** What the board gives for it. */
  efficiency: number;
}

const free = (model: string) => ({ calls: [{ model, cost_usd: 0 }] });
const cases: Record<string, Case> = {
  "a call that was free": {
    usage: free("gpt-5"),
    cost: FLOOR["gpt-5"],
    source: "self_reported",
    floored: true,
    efficiency: REFERENCE_USD / FLOOR["gpt-5"],
  },
  "a call of one token": {
    usage: { calls: [{ model: "gpt-5", input_tokens: 1, output_tokens: 1 }] },
    cost: FLOOR["gpt-5"],
    source: "estimated",
    floored: true,
    efficiency: REFERENCE_USD / FLOOR["gpt-5"],
  },
  "two calls, of which one was free": {
    usage: { calls: [...free("gpt-5").calls, { model: "gpt-5", cost_usd: 0.000875 }] },
    cost: 0.001,
    source: "self_reported",
    floored: true,
    efficiency: 0.1,
  },
  "a free call of an unlisted model": {
    usage: free("home-grown"),
    cost: FLOOR.cheapest,
    source: "self_reported",
    floored: true,
    efficiency: 1,
  },
  "a call that can be": {
    usage: { calls: [{ model: "gpt-5", input_tokens: 2000, output_tokens: 0 }] },
    cost: 0.0025,
    source: "estimated",
    floored: false,
    efficiency: REFERENCE_USD / 0.0025,
  },
  "a total without calls": {
    usage: { cost_usd: 0.00001 },
    cost: 0.00001,
    source: "runner_aggregate",
    floored: false,
    efficiency: 0,
  },
  nothing: { cost: null, source: "unavailable", floored: false, efficiency: 0 },
};

let service: TestService;
let owner: User;
let anonymous: Caller;
let endpoint: Consumer;
const screened = new Map<string, { agent: string; run: string }>();

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "pro" });
  anonymous = caller(service);
  endpoint = await startAgent(({ url }) => {
    const { usage } = cases[url.searchParams.get("reports") ?? ""] ?? {};
    return json(200, { output: KEY, ...(usage === undefined ? {} : { usage }) });
  });
  const columns = { prompt: PROMPT, reference_cost_usd: REFERENCE_USD };
  const [task = ""] = (await addSuite(service, 1, { columns })).tasks;
  for (const name of Object.keys(cases)) {
    const agent = await addAgent(owner, { endpoint: `${endpoint.url}?reports=${encodeURIComponent(name)}` });
    screened.set(name, { agent, run: await addRun(owner, agent, task) });
  }
  await service.settled();
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

const read = async (path: string) => (await anonymous.call("GET", `/api/v1/${path}`)).body;
const rowOf = async (agent: string) =>
  (await read("leaderboard?page_size=100")).items.find((row: { agent_id: string }) => row.agent_id === agent);

describe.each(Object.entries(cases))("an agent that reports %s", (name, { cost, source, floored, efficiency }) => {
  it("is shown with the cost that it can have had, in the run, its statement and on the board", async () => {
    const { agent, run } = screened.get(name) ?? { agent: "", run: "" };
    expect(await read(`runs/${run}`)).toMatchObject({
      passed: true,
      evidence_cost_usd: cost,
      evidence_cost_source: source,
      evidence_cost_floor_applied: floored,
    });
    const { statement } = await read(`runs/${run}/evidence`);
    const amount_usd = cost === null ? null : cost.toFixed(6);
    expect(statement.credentialSubject.cost).toMatchObject({ amount_usd, source, floor_applied: floored });
    const row = await rowOf(agent);
    expect(row.cost_efficiency).toBeCloseTo(efficiency, 9);
    expect(row.evidence_cost_floor_applied).toBe(floored);
  });
});

describe("a cost below the floor", () => {
  it("is marked in the export, in GraphQL and on the pages", async () => {
    const { agent, run } = screened.get("a call that was free") ?? { agent: "", run: "" };
    const [head = "", ...lines] = (await owner.call("GET", "/api/v1/runs/export.csv")).text.trim().split("\r\n");
    const column = head.split(",").indexOf("evidence_cost_floor_applied");
    const marked = lines.filter((line) => line.split(",")[column] === "true").length;
    expect(marked).toBe(Object.values(cases).filter(({ floored }) => floored).length);
    const query = `{ agent(id: "${agent}") { stats { recentRuns { id evidenceCostFloorApplied } } }
      leaderboard(pageSize: 100) { items { agentId evidenceCostFloorApplied } } }`;
    const { data } = (await anonymous.call("POST", "/graphql", { query })).body;
    expect(data.agent.stats.recentRuns).toEqual([{ id: run, evidenceCostFloorApplied: true }]);
    expect(data.leaderboard.items).toContainEqual({ agentId: agent, evidenceCostFloorApplied: true });
    expect((await anonymous.call("GET", "/")).text).toContain("cost at floor");
    expect((await anonymous.call("GET", `/agents/${agent}`)).text).toContain("in part below the floor");
  });
});

describe("the board", () => {
  it("says whose word its costs are", async () => {
    const { paths, components } = (await anonymous.call("GET", "/openapi.json")).body;
    expect(paths["/api/v1/leaderboard"].get.description).toContain("Costs are reported by the agents themselves");
    expect(components.schemas.LeaderboardRow.properties.cost_efficiency.description).toContain(
      "reported by the agents",
    );
    expect((await anonymous.call("GET", "/")).text).toContain("Costs are reported by the agents themselves");
  });

  it("says how many variants a group has, removed ones too, on the row of each that is shown", async () => {
    const { agent: root } = screened.get("nothing") ?? { agent: "" };
    const before = await rowOf(root);
    const kept = await addAgent(owner, { variant_of: root });
    await addAgent(owner, { variant_of: root, is_public: false });
    const hired = await addAgent(await newUser(service));
    await service.sql("update agents set variant_of = $1 where id = $2", [root, hired]);
    const gone = await addAgent(owner, { variant_of: root });
    expect((await owner.call("DELETE", `/api/v1/agents/${gone}`)).status).toBe(204);
    await service.sql("update agents set connection_mode = 'mock' where id = $1", [kept]);
    const [task = ""] = (await addSuite(service, 1)).tasks;
    await addRun(owner, kept, task);
    await service.settled();
    expect([before.variants, (await rowOf(root)).variants, (await rowOf(kept)).variants]).toEqual([0, 2, 2]);
    const query = "{ leaderboard(pageSize: 100) { items { agentId variants } } }";
    const { data } = (await anonymous.call("POST", "/graphql", { query })).body;
    expect(data.leaderboard.items).toContainEqual({ agentId: root, variants: 2 });
    expect((await anonymous.call("GET", "/")).text).toContain("2 variants");
    expect((await anonymous.call("GET", `/agents/${root}`)).text).toContain("2 variants");
    const template = (await owner.call("GET", "/api/v1/scorecards/templates")).body.items[0].id;
    const { items } = (await owner.call("GET", `/api/v1/scorecards/${template}/board?page_size=100`)).body;
    expect(items.find((row: { agent_id: string }) => row.agent_id === kept).variants).toBe(2);
    await service.sql(`insert into agents (id, user_id, name, connection_mode, variant_of, is_public)
      select uuidv7(), '${owner.id}', '${unique("Variant")} ' || n, 'mock', '${root}', true from generate_series(1, 200) n`);
    await addRun(owner, kept, task);
    await service.settled();
    expect((await rowOf(root)).variants).toBe(100);
    expect((await anonymous.call("GET", "/")).text).toContain("100 or more variants");
  });
});
