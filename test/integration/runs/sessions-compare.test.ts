import { afterAll, beforeAll, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { visitorOf } from "../../stack/visitor.ts";
import { addAgent, addSuite, KEY, startAgent, type TestSuite } from "./support.ts";

let service: TestService;
let endpoint: Consumer;
let owner: User;
let suite: TestSuite;
let agent: string;

beforeAll(async () => {
  service = await startService();
  endpoint = await startAgent();
  owner = await newUser(service, { plan: "pro", email: "owner@example.test" });
  suite = await addSuite(service, 8, { slug: "eight" });
  agent = await addAgent(owner, { endpoint: endpoint.url });
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

/** Screens the agent, which passes the tasks at these places; resolves to the session. */
async function screen(passes: readonly number[], fields: object = { suite_id: suite.id }): Promise<string> {
  const passing = new Set(passes.map((place) => suite.tasks[place]));
  endpoint.answer = async ({ headers }) => {
    const id = String(headers["x-service-run-id"]);
    const [run] = await service.sql<{ task_id: string }>("select task_id from runs where id = $1", [id]);
    return json(200, { output: passing.has(run?.task_id ?? "") ? KEY : "41" });
  };
  const { body } = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, ...fields });
  await service.settled();
  return body[0].screening_session_id;
}

const compare = (who: Pick<User, "call">, a: string, b: string) =>
  who.call("GET", `/api/v1/screening-sessions/${a}/compare?with=${b}`);

it("holds a screening to another one over the tasks that both have, with what is chance and what is not", async () => {
  const before = await screen([0], { suite_id: suite.id, private: false });
  const now = await screen([0, 1, 2, 3, 4, 5, 6]);
  const { status, body } = await compare(owner, now, before);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    a: { screening_session_id: now, agent_id: agent, success_rate: 0.875 },
    b: { screening_session_id: before, agent_id: agent, success_rate: 0.125 },
    tasks: 8,
    wins: 6,
    losses: 0,
    ties: 2,
    // Twice the chance of six wins of six by a fair coin.
    mcnemar_p_value: expect.closeTo(2 / 64, 12),
    difference: 0.75,
  });
  expect(body.difference_low).toBeGreaterThan(0);
  const { body: session } = await owner.call("GET", `/api/v1/screening-sessions/${now}`);
  expect(body.a).toMatchObject({ duration_ms: session.duration_ms, evidence_cost_usd: session.evidence_cost_usd });
  expect(body.by_task.flatMap(({ a }: { a: { run_ids: string[] } }) => a.run_ids).toSorted()).toEqual(
    session.run_ids.toSorted(),
  );
  expect(body.by_task.filter(({ a, b }: Record<string, { passed: number }>) => a?.passed === b?.passed)).toHaveLength(
    2,
  );
  expect((await compare(owner, before, now)).body).toMatchObject({ wins: 0, losses: 6, difference: -0.75 });

  const { html } = await (await visitorOf(service, owner)).open(`/sessions/${now}`);
  expect(html).toContain("Against the one before");
  expect(html).toContain("6 won, 0 lost");
  expect(html).not.toContain("NaN");
});

it("says of how many runs the cost is known that it compares: who leaves the dear ones out is not cheaper", async () => {
  const priced = { cost_usd: 0.01 };
  const told: { calls: object[] }[] = Array.from({ length: 8 }, () => ({ calls: [priced] }));
  const screened = async (usages: readonly object[]): Promise<string> => {
    const left = [...usages];
    endpoint.answer = () => json(200, { output: KEY, usage: left.pop() });
    const { body } = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id });
    await service.settled();
    return body[0].screening_session_id;
  };
  const whole = await screened(told);
  const picked = await screened([{ calls: [priced, { model: "own" }] }, { calls: [priced] }]);
  expect((await compare(owner, picked, whole)).body).toMatchObject({
    a: { evidence_cost_usd: 0.02, priced_runs: 1 },
    b: { evidence_cost_usd: 0.08, priced_runs: 8 },
  });
  const visitor = await visitorOf(service, owner);
  const [ofPicked, ofWhole] = [await visitor.open(`/sessions/${picked}`), await visitor.open(`/sessions/${whole}`)];
  expect(ofPicked.html).toContain("as the agent says, 0.020000 USD, known in full of 1 of 8 runs.");
  expect(ofWhole.html).toContain("as the agent says, 0.080000 USD.");
  expect((await visitor.open(`/agents/${agent}`)).html).toContain("0.010000 USD, in part");
});

it("leaves out what only one of them asked, what was cancelled, and what failed by our fault", async () => {
  const whole = await screen([0, 1]);
  const part = await screen([0], { task_ids: suite.tasks.slice(0, 3) });
  await service.sql(
    "update runs set status = 'failed', passed = null, failure_code = 'service_error' where screening_session_id = $1 and task_id = $2",
    [part, suite.tasks[2]],
  );
  const { body } = await compare(owner, part, whole);
  expect(body).toMatchObject({ tasks: 2, wins: 0, losses: 1 });
  expect(body.by_task).toHaveLength(8);
  expect(body.by_task.filter((row: { a: unknown }) => row.a === null)).toHaveLength(6);
  await service.sql("update runs set status = 'cancelled' where screening_session_id = $1", [part]);
  expect((await compare(owner, part, whole)).body).toMatchObject({
    tasks: 0,
    difference: null,
    difference_low: -1,
    difference_high: 1,
    a: { success_rate: null },
  });
});

it("is 404 unless the caller sees both, and asks which one to hold it to", async () => {
  const open = await screen([0]);
  const hidden = await screen([0], { suite_id: suite.id, private: true });
  const anybody = caller(service);
  expect((await compare(owner, open, hidden)).status).toBe(200);
  for (const [a, b] of [
    [open, hidden],
    [hidden, open],
    [open, agent],
  ] as const)
    expect((await compare(anybody, a, b)).status).toBe(404);
  expect((await compare(anybody, open, open)).status).toBe(200);
  expect((await anybody.call("GET", `/api/v1/screening-sessions/${open}/compare`)).status).toBe(422);
});

it("finds the one of its suite before it behind any number of others, which the list leaves out by its suite", async () => {
  const own = await addAgent(owner, { endpoint: endpoint.url });
  const before = await screen([0], { agent_id: own, suite_id: suite.id });
  const now = await screen([0, 1], { agent_id: own, suite_id: suite.id });
  await service.sql(
    `insert into screening_sessions (agent_id, user_id, trigger, task_plan, repeats, created_at)
     select s.agent_id, s.user_id, s.trigger, s.task_plan, 1, s.created_at + n * interval '1 microsecond'
     from screening_sessions s, generate_series(1, 25) n where s.id = $1`,
    [before],
  );
  const list = (query: string) => owner.call("GET", `/api/v1/agents/${own}/screening-sessions${query}`);
  const { body: ofSuite } = await list(`?suite_id=${suite.id}`);
  expect([ofSuite.total, ofSuite.items.map(({ id }: { id: string }) => id)]).toEqual([2, [now, before]]);
  expect((await list("")).body.total).toBe(27);
  const other = await addSuite(service, 1);
  expect((await list(`?suite_id=${other.id}`)).body).toMatchObject({ total: 0, items: [] });
  expect((await list(`?suite_id=${own}`)).body).toMatchObject({ code: "not_found" });
  expect((await list("?suite_id=eight")).status).toBe(422);
  const { html } = await (await visitorOf(service, owner)).open(`/sessions/${now}`);
  expect(html).toContain(`/sessions/${before}`);
  expect(html).toContain("1 won, 0 lost");
});
