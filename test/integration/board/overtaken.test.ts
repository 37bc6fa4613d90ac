import { afterAll, beforeAll, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, bury, deliver, startAgent, type TestSuite } from "../runs/support.ts";

let service: TestService;
let owner: User;
let endpoint: Consumer;
let core: TestSuite;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "enterprise" });
  endpoint = await startAgent();
  await service.sql("update tasks set is_active = false");
  core = await addSuite(service, 8, { slug: "core" });
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

interface Run {
  id: string;
  task_id: string;
}

/** Reserves runs of all tasks, which nothing takes up before `released`, as those of an agent wait that is slow. */
async function reserved(agent_id: string, fields: object): Promise<Run[]> {
  service.faults.set({ service: "qstash", mode: "hang" });
  const body = { agent_id, task_ids: core.tasks, ...fields };
  const answer = await owner.call<Run[]>("POST", "/api/v1/runs/batch", body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function released(): Promise<void> {
  service.faults.set({ service: "qstash", mode: "none" });
  await service.settled();
}

/** Carries runs out before all others. */
async function carryOut(ids: readonly string[]): Promise<void> {
  for (const consumer of ["dispatch", "score"])
    for (const id of ids) expect(await deliver(service, consumer, id)).toBe(200);
}

async function cancel(runs: readonly Run[]): Promise<void> {
  for (const { id } of runs)
    expect((await owner.call("POST", `/api/v1/runs/${id}/cancel`)).body.status).toBe("cancelled");
}

/** How many runs the agent was asked, and whether unevenly, once the next round has ended. */
async function shown(agent_id: string) {
  await released();
  await owner.call("POST", "/api/v1/runs/batch", { agent_id, task_ids: core.tasks });
  await service.settled();
  const { body } = await owner.call("GET", "/api/v1/leaderboard?page_size=100");
  const row = body.items.find((item: { agent_id: string }) => item.agent_id === agent_id);
  return [row.asked_runs, row.uneven];
}

/** Has the queue give runs up, as it does where the name of their agent can't be resolved, which its owner has a hand in. */
async function giveUp(runs: readonly Run[]): Promise<void> {
  for (const { id } of runs) {
    expect(await bury(service, "dispatch", id)).toBe(200);
    expect((await owner.call("GET", `/api/v1/runs/${id}`)).body.failure_code).toBe("service_error");
  }
}

it.each([
  ["cancelled", cancel],
  ["given up by our fault", giveUp],
])(
  "marks an agent whose earlier runs, overtaken by picked ones, were to make up for them and are %s",
  async (_how, end) => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const earlier = await reserved(agent, { repeats: 3 });
    const [first = ""] = core.tasks;
    const picked: string[] = [];
    for (let n = 0; n < 3; n += 1) picked.push(await addRun(owner, agent, first));
    await carryOut(picked);
    await carryOut(earlier.filter(({ task_id }) => task_id !== first).map(({ id }) => id));
    await end(earlier.filter(({ task_id }) => task_id === first));
    // Without those that ended so, each task would have been asked four times.
    expect(await shown(agent)).toEqual([35, true]);
  },
);

it("counts no run as asked that failed by our fault before any that was asked for later", async () => {
  const agent = await addAgent(owner, { endpoint: endpoint.url });
  const runs = await reserved(agent, { repeats: 2 });
  await giveUp(runs.slice(0, 1));
  await released();
  expect(await shown(agent)).toEqual([23, false]);
});

it.each([
  ["before any that were asked for later", async (_agent: string) => {}],
  [
    "after private ones that were asked for later",
    async (agent: string) => {
      const { body } = await owner.call("POST", "/api/v1/runs", {
        agent_id: agent,
        task_id: core.tasks[0],
        private: true,
      });
      await carryOut([body.id]);
    },
  ],
])("counts no run as asked that was cancelled %s", async (_when, later) => {
  const agent = await addAgent(owner, { endpoint: endpoint.url });
  const runs = await reserved(agent, { repeats: 2 });
  const [one, other] = [runs.filter((_run, place) => place % 2 === 0), runs.filter((_run, place) => place % 2 === 1)];
  await later(agent);
  await carryOut(one.map(({ id }) => id));
  await cancel(other.slice(0, 1));
  const versions = await service.sql(
    "select distinct suite_version from runs where agent_id = $1 and status = 'cancelled'",
    [agent],
  );
  expect(versions).toEqual([{ suite_version: null }]);
  await released();
  expect(await shown(agent)).toEqual([23, false]);
});
