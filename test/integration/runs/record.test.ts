import { afterAll, beforeAll, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { visitorOf } from "../../stack/visitor.ts";
import { addAgent, addSuite, startAgent, type TestSuite } from "./support.ts";

let service: TestService;
let owner: User;
let stranger: User;
let endpoint: Consumer;
let suite: TestSuite;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "enterprise" });
  stranger = await newUser(service);
  // It knows nothing, and is dear.
  endpoint = await startAgent(() =>
    json(200, {
      output: "wrong",
      usage: { calls: [{ model: "m", input_tokens: 10, output_tokens: 1, cost_usd: 0.5 }] },
    }),
  );
  suite = await addSuite(service, 2);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

async function screen(agent: string, fields: object = {}): Promise<void> {
  const batch = { agent_id: agent, suite_id: suite.id, ...fields };
  expect((await owner.call("POST", "/api/v1/runs/batch", batch)).status).toBe(200);
  await service.settled();
}

const change = async (agent: string, fields: object) =>
  expect((await owner.call("PATCH", `/api/v1/agents/${agent}`, fields)).status).toBe(200);

/** The sums of an agent's record, as they are read. */
async function recordOf(agent: string, reader: User = stranger) {
  const { body } = await reader.call("GET", `/api/v1/agents/${agent}/stats`);
  const { simulated, total_runs, successful_runs, failed_runs, avg_cost_usd } = body;
  return { simulated, total_runs, successful_runs, failed_runs, avg_cost_usd };
}

/** What two runs come to that were answered. */
const REAL = { simulated: false, total_runs: 2, successful_runs: 0, failed_runs: 2, avg_cost_usd: 0.5 };

it("has nothing of simulated runs in the record of an agent that has real ones", async () => {
  const agent = await addAgent(owner, { endpoint: endpoint.url });
  await screen(agent);
  expect(await recordOf(agent)).toEqual(REAL);
  await change(agent, { connection_mode: "mock" });
  await screen(agent, { repeats: 10 });
  expect(await recordOf(agent)).toEqual(REAL);
  await change(agent, { connection_mode: "http_endpoint" });
  expect(await recordOf(agent)).toEqual(REAL);
  expect((await stranger.call("GET", `/agents/${agent}`)).text).toContain("0.500000 USD a run on average");
});

it("shows simulated runs until a reader sees a real one", async () => {
  const agent = await addAgent(owner);
  expect(await recordOf(agent)).toMatchObject({ simulated: false, total_runs: 0 });
  await screen(agent, { repeats: 10 });
  const simulated = await recordOf(agent);
  expect(simulated).toMatchObject({ simulated: true, total_runs: 20, failed_runs: 20 - simulated.successful_runs });
  await change(agent, { endpoint: endpoint.url });
  await screen(agent, { private: true });
  expect(await recordOf(agent)).toEqual(simulated);
  expect(await recordOf(agent, owner)).toEqual(REAL);
});

it("keeps simulated runs in the record until a real one has ended: one that is queued, or was cancelled, tells nothing", async () => {
  const agent = await addAgent(owner);
  await screen(agent);
  const simulated = await recordOf(agent);
  await change(agent, { connection_mode: "http_endpoint", endpoint: endpoint.url });
  service.faults.set({ service: "qstash", mode: "hang" });
  const batch = { agent_id: agent, suite_id: suite.id };
  const [{ screening_session_id: session }] = (await owner.call("POST", "/api/v1/runs/batch", batch)).body;
  expect(await recordOf(agent)).toEqual(simulated);
  expect((await owner.call("POST", `/api/v1/screening-sessions/${session}/cancel`)).status).toBe(200);
  service.faults.set({ service: "qstash", mode: "none" });
  await service.settled();
  expect(await recordOf(agent)).toEqual(simulated);
  await screen(agent);
  expect(await recordOf(agent)).toEqual({ ...REAL, total_runs: 4 });
});

it("expects nothing of a real screening by simulated runs, nor of a simulated one by real runs", async () => {
  const agent = await addAgent(owner);
  const visitor = await visitorOf(service, owner);
  const expected = async () => {
    const { html } = await visitor.open(`/agents/${agent}/screen`);
    return { costs: /about [\d.]+ USD/.test(html), lasts: /about \d+ (?:second|minute)/.test(html) };
  };
  const nothing = { costs: false, lasts: false };
  await screen(agent);
  expect(await expected()).toEqual(nothing);
  await change(agent, { connection_mode: "http_endpoint", endpoint: endpoint.url });
  expect(await expected()).toEqual(nothing);
  await screen(agent);
  expect(await expected()).toEqual({ costs: true, lasts: true });
  await change(agent, { connection_mode: "mock" });
  expect(await expected()).toEqual(nothing);
});

it("says of a simulated screening that it is one, and holds none against a real one", async () => {
  const agent = await addAgent(owner, { endpoint: endpoint.url });
  await screen(agent);
  await change(agent, { connection_mode: "mock" });
  await screen(agent);
  const { items } = (await stranger.call("GET", `/api/v1/agents/${agent}/screening-sessions`)).body;
  expect(items.map((session: { simulated: boolean }) => session.simulated)).toEqual([true, false]);
  const [fake, real] = items.map(({ id }: { id: string }) => id);
  const compared = await stranger.call("GET", `/api/v1/screening-sessions/${real}/compare?with=${fake}`);
  expect([compared.body.a.simulated, compared.body.b.simulated]).toEqual([false, true]);
  const [ofFake, ofReal] = await Promise.all([fake, real].map((id) => stranger.call("GET", `/sessions/${id}`)));
  expect(ofFake?.text).toContain("No agent was called");
  for (const lie of ["as the agent says", "Against the one before"]) expect(ofFake?.text).not.toContain(lie);
  expect(ofReal?.text).not.toContain("No agent was called");
});

it("says of a private screening that it is one to those who see it, and in the statements of its runs", async () => {
  const agent = await addAgent(owner, { endpoint: endpoint.url });
  await screen(agent);
  await screen(agent, { private: true });
  const { items: sessions } = (await owner.call("GET", `/api/v1/agents/${agent}/screening-sessions`)).body;
  expect(sessions.map((session: { is_private: boolean }) => session.is_private)).toEqual([true, false]);
  const visitor = await visitorOf(service, owner);
  const told = await Promise.all(
    sessions.map(async ({ id, run_ids: [run] }: { id: string; run_ids: string[] }) => {
      const read = await owner.call("GET", `/api/v1/runs/${run}`);
      const evidence = await owner.call("GET", `/api/v1/runs/${run}/evidence`);
      const pages = await Promise.all([`/runs/${run}`, `/sessions/${id}`].map((path) => visitor.open(path)));
      const tagged = pages.map(({ html }) => html.includes(`<span class="tag">private</span>`));
      return [read.body.is_private, evidence.body.statement.credentialSubject.run.private, ...tagged];
    }),
  );
  expect(told).toEqual([
    [true, true, true, true],
    [false, false, false, false],
  ]);
  const asked = { query: `{ agent(id: "${agent}") { stats { recentRuns { isPrivate } } } }` };
  const { data } = (await owner.call("POST", "/graphql", asked)).body;
  expect(data.agent.stats.recentRuns.map((run: { isPrivate: boolean }) => run.isPrivate)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
