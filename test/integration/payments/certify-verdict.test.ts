import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { conclude } from "../../../shared/certification/verdict.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  addEnded,
  answersFor,
  goOn,
  grantUnpublished,
  type Made,
  paidBy,
  runsOf,
  shortenSuites,
  stateOf,
  statusOf,
} from "./certify-support.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { addAgent, addSuite, from, quietQueueClient, range, startAgent, used } from "../runs/support.ts";

/** When every test begins; tokens that are made then are good for a quarter of an hour. */
const START = Date.parse("2026-11-21T09:00:00.000Z");
const TASKS = 2;
const RUNS = 5 * TASKS;

let service: TestService;
let endpoint: Consumer;
/** What no agent is certified by. */
let scored: string[];
let owner: User;
let clock = START;
let tests = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(clock) } });
  endpoint = await startAgent();
  await shortenSuites(service);
  scored = (await addSuite(service, 5)).tasks;
  quietQueueClient();
  owner = await newUser(service, { plan: "team" });
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

beforeEach(async () => {
  clock = START;
  endpoint.answer = answersFor(0.001);
  await service.sql("delete from allowances");
  await service.sql("delete from certifications where status in ('awaiting_payment', 'screening', 'paused_quota')");
  await service.sql("update users set plan = 'team' where id = $1", [owner.id]);
  // Each test from an address of its own, so that no limit is shared.
  tests += 1;
  Object.assign(owner, caller(service, { authorization: `Bearer ${owner.token}`, ...from(tests) }));
});

const live = (): Promise<string> => addAgent(owner, { endpoint: endpoint.url });

async function trigger(cron: string, at: number): Promise<void> {
  clock = at;
  await service.app.scheduled(cron);
  await service.settled();
}

const ALL: Made = { passed: 5 };

async function ended(made: Made[]): Promise<{ agent: string; id: string }> {
  const agent = await live();
  return { agent, id: await addEnded(service, { agent, owner, scored, made }) };
}

/** Has such an agent judged. */
async function judged(made: Made[]) {
  const { agent, id } = await ended(made);
  expect(await Promise.all(range(3).map(() => goOn(service, id)))).toEqual([200, 200, 200]);
  const { status, score } = await statusOf(owner, agent);
  return { agent, verdict: { status, score, shown: await stateOf(service, agent) } };
}

describe("the verdict", () => {
  // A task that always passes scores 0.4 + 0.3 × 2/3 + 0.3 × efficiency; one of n of 5 has its reliability of c + 1 … c + 3.
  it.each<[string, Made[], string, number | null]>([
    ["a composite of exactly 70", [{ ...ALL, cost: 0.006 }], "certified", 70],
    ["one that is shown as 70", [{ ...ALL, cost: 0.006001 }], "certified", 70],
    ["one that is shown as less", [{ ...ALL, cost: 0.00601 }], "not_certified", 69.98],
    ["no cost at all", [{ ...ALL, cost: 0 }], "certified", 90],
    ["two of five of a domain", [ALL, ALL, ALL, { passed: 2, domain: "coding" }], "not_certified", 75.39],
    [
      "half of a domain",
      [ALL, ALL, ALL, { ...ALL, domain: "coding" }, { passed: 0, domain: "coding" }],
      "certified",
      72.07,
    ],
    ["nothing of a domain", [ALL, ALL, ALL, ALL, { passed: 0, domain: "safety" }], "not_certified", 72.07],
    ["three of five, the rest cancelled", [{ passed: 3, ends: "cancelled" }], "not_certified", 49.14],
    [
      "four of five, the last failed by our fault, which it waits for",
      [{ passed: 4, ends: "service_error" }],
      "screening",
      null,
    ],
    ["nothing but faults of ours, which it waits for", [{ passed: 0, ends: "service_error" }], "screening", null],
    [
      "too little, whatever became of what failed by our fault",
      [ALL, ALL, ALL, { passed: 0, domain: "coding" }, { passed: 4, ends: "service_error" }],
      "not_certified",
      71.82,
    ],
  ])("on %s", async (_what, made, status, score) => {
    const shown = status === "certified" ? "certified" : "unverified";
    expect((await judged(made)).verdict).toEqual({ status, score, shown });
  });

  it("waits until the last run is final, and is given once", async () => {
    const agent = await live();
    const id = await grantUnpublished(service, owner, agent);
    await service.sql(
      "update runs set status = 'completed', passed = true, correctness = 1 where agent_id = $1 and repeat_index < 5",
      [agent],
    );
    await goOn(service, id);
    expect((await statusOf(owner, agent)).status).toBe("screening");
    await service.sql("update runs set status = 'completed', passed = true, correctness = 1 where agent_id = $1", [
      agent,
    ]);
    await goOn(service, id);
    const verdict = await statusOf(owner, agent);
    expect(verdict).toMatchObject({ status: "not_certified", score: 60 });
    clock += 1000;
    await service.sql("update runs set evidence_cost_usd = 0 where agent_id = $1", [agent]);
    await goOn(service, id);
    await conclude(
      contextOf(service, () => new Date(clock)),
      id,
    );
    expect(await statusOf(owner, agent)).toEqual(verdict);
  });

  it("goes by runs that are made again after a fault of ours, each paid once", async () => {
    const agent = await live();
    const id = await grantUnpublished(service, owner, agent);
    await service.sql(
      "update runs set status = 'failed', failure_code = 'service_error' where agent_id = $1 and repeat_index <= 2",
      [agent],
    );
    await service.sql(
      "update runs set status = 'completed', passed = true, correctness = 1, evidence_cost_usd = 0 where agent_id = $1 and repeat_index > 2",
      [agent],
    );
    await Promise.all(range(4).map(() => goOn(service, id)));
    await service.settled();
    expect(await runsOf(service, agent)).toEqual({ failed: 2 * TASKS, completed: RUNS });
    expect(await paidBy(service, agent)).toEqual({ certification: RUNS + 2 * TASKS });
    expect(await used(service, "user", owner.id)).toBe(0);
    expect(await statusOf(owner, agent)).toMatchObject({
      status: "certified",
      progress: { total: RUNS, finished: RUNS, passed: RUNS },
    });
  });

  it("leaves out what was retired for good, but waits for what another one took the place of", async () => {
    const wanted = scored[1];
    const { agent, id } = await ended([ALL, { passed: 4, ends: "service_error" }]);
    await service.sql("update tasks set is_active = false where id = $1", [wanted]);
    const columns =
      "title, domain, prompt, output_format, grader, expected_output, reference_cost_usd, reference_latency_ms";
    const [next] = await service.sql<{ id: string }>(
      `insert into tasks (${columns}, suite_id, position, suite_version)
       select ${columns}, suite_id, position, suite_version + 1 from tasks where id = $1 returning id`,
      [wanted],
    );
    await goOn(service, id);
    expect((await statusOf(owner, agent)).status).toBe("screening");
    await service.sql("delete from tasks where id = $1", [next?.id]);
    await goOn(service, id);
    await service.sql("update tasks set is_active = true where id = $1", [wanted]);
    expect((await statusOf(owner, agent)).status).toBe("certified");
  });

  it("comes a day later where its message was lost", async () => {
    const agent = await live();
    await grantUnpublished(service, owner, agent);
    await service.sql(
      "update runs set status = 'completed', passed = true, correctness = 1, evidence_cost_usd = 0 where agent_id = $1",
      [agent],
    );
    await trigger(DAILY, START + 1000);
    expect((await statusOf(owner, agent)).status).toBe("certified");
    expect((await owner.call("GET", `/api/v1/agents/${agent}/credential`)).status).toBe(200);
  });

  it("counts what its owner cancels against the agent", async () => {
    const agent = await live();
    await grantUnpublished(service, owner, agent);
    const runs = await service.sql<{ id: string }>("select id from runs where agent_id = $1", [agent]);
    for (const { id } of runs) expect((await owner.call("POST", `/api/v1/runs/${id}/cancel`)).status).toBe(200);
    await service.settled();
    expect(await used(service, "user", owner.id)).toBe(0);
    expect(await statusOf(owner, agent)).toMatchObject({
      status: "not_certified",
      progress: { total: RUNS, finished: RUNS },
    });
  });
});
