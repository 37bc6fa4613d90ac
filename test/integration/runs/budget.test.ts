import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { LINGER_MS } from "../../../functions/service.ts";
import { KEEP_ANSWERS } from "../../../shared/runs/keep-answer.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, quietQueueClient, startAgent, type TestSuite } from "./support.ts";

let service: TestService;
let owner: User;
let anonymous: Caller;
let endpoint: Consumer;
let agent: string;
let suite: TestSuite;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "enterprise" });
  anonymous = caller(service);
  endpoint = await startAgent();
  agent = await addAgent(owner, { endpoint: endpoint.url });
  suite = await addSuite(service, 100);
  quietQueueClient();
  await service.settled();
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

beforeEach(() => service.counters.reset());

/** Round trips so far: to the database, to Redis, and to QStash. */
function roundTrips() {
  const { db, redis, qstash } = service.counters.snapshot();
  return { db: db.requests, redis: redis.requests, qstash: qstash.requests };
}

describe("a run, from the submission to its end", () => {
  it("takes four round trips to the database in all and none to Redis", async () => {
    await addRun(owner, agent, suite.tasks[0] ?? "");
    await service.settled();
    // Before the answer 1; after it the publication and the deletion of the outbox row. No message has it scored.
    expect(roundTrips()).toEqual({ db: 1 + 1 + 4, redis: 1, qstash: 1 });
  });

  it("that is alone is scored without waiting for others", async () => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    await addRun(owner, agent, suite.tasks[0] ?? "");
    await service.settled();
    const waits = timers.mock.calls.map(([, ms]) => ms);
    timers.mockRestore();
    expect(waits).not.toContain(LINGER_MS);
  });

  it("is published with all others of its batch at once, and scored with those whose answers came meanwhile", async () => {
    const tasks = suite.tasks.slice(0, 10);
    await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, task_ids: tasks });
    await service.settled();
    const { db, ...others } = roundTrips();
    expect(others).toEqual({ redis: 1, qstash: 1 });
    // At most two of each run, and two of each group that is scored; at least one each of those that are called together.
    expect(db).toBeLessThan(1 + 1 + 10 * 4);
    expect(db).toBeGreaterThanOrEqual(1 + 1 + 3 * 2 + 2);
  });

  it("has its answer kept by an update that touches no index, unless the agent fails", async () => {
    const [, set = ""] = /update "runs" r set (.+?) from open_calls/s.exec(KEEP_ANSWERS.definition) ?? [];
    const written = [...set.matchAll(/(?:^|,\s+)(\w+) = /g)].map(([, column]) => column);
    expect(written).toContain("lease_expires_at");
    // Keys, expressions and conditions alike; https://www.postgresql.org/docs/18/storage-hot.html
    const indexed = await service.sql<{ column: string }>(`select distinct a.attname as column from pg_depend d
      join pg_class i on i.oid = d.objid and i.relkind = 'i'
      join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid where d.refobjid = 'runs'::regclass`);
    expect(indexed.map(({ column }) => column).filter((column) => written.includes(column))).toEqual(["failure_code"]);
  });

  it("takes no more when it is the agent that fails", async () => {
    endpoint.answer = () => ({ status: 500 });
    await addRun(owner, agent, suite.tasks[0] ?? "");
    await service.settled();
    expect(roundTrips()).toEqual({ db: 1 + 1 + 4, redis: 1, qstash: 1 });
  });
});

describe("a read", () => {
  it("of a signed-in caller takes one round trip to the database and at most one to Redis", async () => {
    const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, task_ids: [suite.tasks[0]] });
    const [{ id, screening_session_id: session }] = batch.body;
    await service.settled();
    for (const path of [
      `/api/v1/runs/${id}`,
      `/api/v1/runs/${id}/phases`,
      `/api/v1/runs/${id}/output`,
      `/api/v1/runs/${id}/evidence`,
      `/api/v1/runs?mine=true&agent_id=${agent}`,
      `/api/v1/screening-sessions/${session}`,
      `/api/v1/agents/${agent}/stats`,
      `/api/v1/agents/${agent}/screening-sessions`,
    ]) {
      service.counters.reset();
      expect((await owner.call("GET", path)).status).toBe(200);
      const { redis, ...others } = roundTrips();
      expect([path, others, redis <= 1]).toEqual([path, { db: 1, qstash: 0 }, true]);
    }
  });

  it.each([
    "/api/v1/leaderboard",
    "/api/v1/leaderboard?domain=math&period=7d&verified_only=true",
    "/api/v1/runs/preflight",
    "/api/v1/tasks",
    "/api/v1/suites",
  ])("of the public kind takes none to the database the second time: %s", async (path) => {
    for (const db of [1, 0]) {
      service.counters.reset();
      expect((await anonymous.call("GET", path)).status).toBe(200);
      const trips = roundTrips();
      expect(trips).toMatchObject({ db, qstash: 0 });
      expect(trips.redis).toBeLessThanOrEqual(1);
    }
  });
});

describe("a submission, before its answer", () => {
  // QStash hangs to the end of this file: what is deferred stops at its first step, and no consumer runs.
  beforeAll(async () => {
    // The reads before this are counted a moment after their answers.
    await service.settled();
    service.faults.set({ service: "qstash", mode: "hang" });
  });

  it.each<[string, string, () => object, Record<string, string>]>([
    ["a run", "/api/v1/runs", () => ({ agent_id: agent, task_id: suite.tasks[0] }), {}],
    [
      "a run with a key",
      "/api/v1/runs",
      () => ({ agent_id: agent, task_id: suite.tasks[0] }),
      { "idempotency-key": "a" },
    ],
    ["100 × 10 runs", "/api/v1/runs/batch", () => ({ agent_id: agent, suite_id: suite.id, repeats: 10 }), {}],
    [
      "100 × 10 runs with a key",
      "/api/v1/runs/batch",
      () => ({ agent_id: agent, suite_id: suite.id, repeats: 10 }),
      { "idempotency-key": "b" },
    ],
  ])("%s: one round trip to the database and one to Redis", async (_case, path, body, headers) => {
    const { status } = await owner.call("POST", path, body(), headers);
    const { db, redis } = roundTrips();
    expect(status).toBeLessThan(300);
    expect({ db, redis }).toEqual({ db: 1, redis: 1 });
  });
});
