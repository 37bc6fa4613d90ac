import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAILY, EVERY_MINUTE } from "../../../functions/scheduled.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import type { Fault } from "../../stack/faults.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  addAgent,
  addRun,
  addSuite,
  answersRightly,
  bury,
  deliver,
  quietQueueClient,
  startAgent,
  used,
} from "./support.ts";

const DAY_MS = 86_400_000;

let service: TestService;
let owner: User;
let endpoint: Consumer;
let agent: string;
let task: string;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "pro" });
  endpoint = await startAgent();
  agent = await addAgent(owner, { endpoint: endpoint.url, allow_trial: true });
  task = (await addSuite(service, 1)).tasks[0] ?? "";
  quietQueueClient();
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

beforeEach(() => {
  endpoint.seen.length = 0;
  endpoint.answer = answersRightly;
});

const read = async (runId: string) => (await owner.call("GET", `/api/v1/runs/${runId}`)).body;
const outbox = () => service.sql("select o.consumer from outbox o join runs r on r.id = o.id");

/** Lets the minute's work find every message due and every lease expired. */
async function nextMinute(): Promise<void> {
  await service.sql("update outbox set due_at = now() - interval '1 second'");
  await service.sql(
    "update runs set lease_expires_at = now() - interval '1 second' where lease_expires_at is not null",
  );
  await service.app.scheduled(EVERY_MINUTE);
  await service.settled();
}

/** Submits a run while QStash takes nothing, so that only what a test delivers by hand meets the faults it sets. */
async function addUnpublished(): Promise<string> {
  service.faults.set({ service: "qstash", mode: "error" });
  const runId = await addRun(owner, agent, task);
  await service.settled();
  return runId;
}

/** Expects one result of a run that went well in the end: one answer, one statement, one scoring, one unit paid. */
async function expectOneResult(runId: string): Promise<void> {
  expect(await read(runId)).toMatchObject({ status: "completed", passed: true, evidence_signed: true });
  const [left] = await service.sql(
    `select (select count(*)::int from run_evidence where run_id = $1) as statements,
      (select count(*)::int from run_phases where run_id = $1 and phase = 'scored') as scored,
      (select count(*)::int from outbox where id = $1) as owed`,
    [runId],
  );
  expect(left).toEqual({ statements: 1, scored: 1, owed: 0 });
}

describe("QStash that fails", () => {
  it.each(["down", "error"] as const)("at the submission (%s) leaves the message to the next minute", async (mode) => {
    service.faults.set({ service: "qstash", mode });
    const runId = await addRun(owner, agent, task);
    await service.settled();
    expect(await outbox()).toEqual([{ consumer: "dispatch" }]);
    service.faults.set({ service: "qstash", mode: "none" });
    await service.app.scheduled(EVERY_MINUTE);
    await service.settled();
    expect((await read(runId)).status).toBe("queued");
    await nextMinute();
    expect(endpoint.seen).toHaveLength(1);
    await expectOneResult(runId);
  });

  it("when the answer came is not needed for its grading", async () => {
    endpoint.answer = (request) => {
      service.faults.set({ service: "qstash", mode: "error" });
      return answersRightly(request);
    };
    const runId = await addRun(owner, agent, task);
    await service.settled();
    expect(await outbox()).toEqual([]);
    service.faults.set({ service: "qstash", mode: "none" });
    expect(endpoint.seen).toHaveLength(1);
    await expectOneResult(runId);
  });

  it("beside a database that fails while the answer is graded leaves that to the next minute", async () => {
    const runId = await addUnpublished();
    await service.sql(`create function fail() returns trigger language plpgsql as $$ begin raise 'fault'; end $$`);
    await service.sql("create trigger fail before insert on run_evidence execute function fail()");
    expect(await deliver(service, "dispatch", runId)).toBe(200);
    await service.settled();
    expect((await read(runId)).status).toBe("running");
    expect(await outbox()).toContainEqual({ consumer: "score" });
    await service.sql("drop function fail cascade");
    service.faults.set({ service: "qstash", mode: "none" });
    await nextMinute();
    expect(endpoint.seen).toHaveLength(1);
    await expectOneResult(runId);
  });

  it("by taking the message and losing its answer has nothing done twice", async () => {
    service.faults.set({ service: "qstash", mode: "lost", count: 1 });
    const runId = await addRun(owner, agent, task);
    await service.settled();
    await nextMinute();
    expect(endpoint.seen).toHaveLength(1);
    await expectOneResult(runId);
  });

  it("by hanging does not hold the answer up", async () => {
    service.faults.set({ service: "qstash", mode: "hang" });
    const runId = await addRun(owner, agent, task);
    expect((await read(runId)).status).toBe("queued");
    service.faults.set({ service: "qstash", mode: "none" });
    await service.settled();
    await expectOneResult(runId);
  });
});

describe("the database that fails in the middle of a run", () => {
  const fail = (mode: Fault["mode"], count = 1): void => service.faults.set({ service: "db", mode, count });

  it.each<[Fault["mode"], number]>([
    ["error", 2],
    ["down", 2],
    ["lost", 1],
  ])("when the answer is kept (%s) costs the agent nothing but %i calls", async (mode, calls) => {
    endpoint.answer = (request) => {
      if (endpoint.seen.length === 1) fail(mode);
      return answersRightly(request);
    };
    const runId = await addUnpublished();
    expect(await deliver(service, "dispatch", runId)).toBe(507);
    expect((await read(runId)).status).toBe("running");
    service.faults.set({ service: "qstash", mode: "none" });
    await nextMinute();
    expect(endpoint.seen).toHaveLength(calls);
    await expectOneResult(runId);
    const { started_at: started, latency_ms: latency } = await read(runId);
    expect(Date.parse(started) + latency).toBeLessThanOrEqual(Date.now());
  });

  it("after it gave the run out (lost) has the run taken up again", async () => {
    const runId = await addUnpublished();
    fail("lost");
    expect(await deliver(service, "dispatch", runId)).toBe(507);
    expect(endpoint.seen).toEqual([]);
    // The reaper finds it; its message can't be published yet. A run that is running never falls back to queued.
    await nextMinute();
    expect((await read(runId)).status).toBe("running");
    service.faults.set({ service: "qstash", mode: "none" });
    await nextMinute();
    expect(endpoint.seen).toHaveLength(1);
    await expectOneResult(runId);
  });

  it("while the answer is graded leaves nothing half written, and the next try ends the run", async () => {
    await service.sql(`create function fail() returns trigger language plpgsql as $$ begin raise 'fault'; end $$`);
    await service.sql("create trigger fail before insert on board_entries execute function fail()");
    const own = await addAgent(owner, { endpoint: endpoint.url });
    const runId = await addRun(owner, own, task);
    await service.settled();
    const [left] = await service.sql(
      `select status, verified_state, (select count(*)::int from run_evidence where run_id = r.id) as statements,
        (select count(*)::int from task_scores where agent_id = r.agent_id) as cells
       from runs r join agents a on a.id = r.agent_id where r.id = $1`,
      [runId],
    );
    expect(left).toEqual({ status: "running", verified_state: "unverified", statements: 0, cells: 0 });
    await service.sql("drop function fail cascade");
    await service.broker.advance(60_000);
    await service.settled();
    expect(endpoint.seen).toHaveLength(1);
    await expectOneResult(runId);
  });
});

describe("a run that can't be carried out", () => {
  /** Has the database refuse to have the run taken up, for as long as the queue tries. */
  async function die(submit: () => Promise<string>): Promise<string> {
    await service.sql(`create function fail() returns trigger language plpgsql as $$
      begin if new.status = 'running' then raise 'fault'; end if; return new; end $$`);
    await service.sql("create trigger fail before update on runs for each row execute function fail()");
    const runId = await submit();
    await service.settled();
    await service.broker.advance(3 * DAY_MS);
    await service.settled();
    await service.sql("drop function fail cascade");
    return runId;
  }

  it("ends as service_error after the last retry, paid back and held against nobody", async () => {
    const before = await used(service, "user", owner.id);
    const [cells] = await service.sql("select sum(n)::int as n from task_scores where agent_id = $1", [agent]);
    const runId = await die(() => addRun(owner, agent, task));
    expect(await read(runId)).toMatchObject({
      status: "failed",
      failure_code: "service_error",
      passed: null,
      evidence_signed: false,
    });
    expect(endpoint.seen).toEqual([]);
    expect(await used(service, "user", owner.id)).toBe(before);
    expect((await service.sql("select sum(n)::int as n from task_scores where agent_id = $1", [agent]))[0]).toEqual(
      cells,
    );
    expect((await owner.call("GET", `/api/v1/runs/${runId}/evidence`)).status).toBe(404);
    expect(await outbox()).toEqual([]);
  });

  it.each([500, 502, 503, 504, 0])(
    "ends so where the last try was answered %i in the service's place",
    async (status) => {
      const runId = await addUnpublished();
      expect(await bury(service, "dispatch", runId, status)).toBe(200);
      expect(await read(runId)).toMatchObject({ status: "failed", failure_code: "service_error" });
      service.faults.set({ service: "qstash", mode: "none" });
    },
  );

  it("gives an anonymous trial back to its address and to all", async () => {
    const runId = await die(() => addRun(caller(service), agent, task, {}, { "cf-connecting-ip": "10.9.9.9" }));
    expect((await read(runId)).failure_code).toBe("service_error");
    expect([await used(service, "trial_address"), await used(service, "trial_global")]).toEqual([0, 0]);
  });

  it.each([
    ["is queued", "true", false],
    ["was lost and freed", "new.attempt > 1 or new.status = 'failed'", true],
    ["was answered", "new.status in ('completed', 'failed')", false],
  ])("for as long as the queue tries is taken up again the next day: one that %s", async (_what, refused, isLost) => {
    endpoint.answer = (request) => {
      if (isLost && endpoint.seen.length === 1) service.faults.set({ service: "db", mode: "error", count: 1 });
      return answersRightly(request);
    };
    await service.sql(`create function fail() returns trigger language plpgsql as $$
      begin if ${refused} then raise 'fault'; end if; return new; end $$`);
    await service.sql("create trigger fail before update on runs for each row execute function fail()");
    const runId = await addRun(owner, agent, task);
    await service.settled();
    await nextMinute();
    await service.broker.advance(3 * DAY_MS);
    await service.settled();
    await service.sql("drop function fail cascade");
    await nextMinute();
    expect(["queued", "running"]).toContain((await read(runId)).status);
    await service.sql(
      `update runs set created_at = created_at - interval '2 hours', started_at = started_at - interval '2 hours',
        answered_at = answered_at - interval '2 hours' where id = $1`,
      [runId],
    );
    await service.app.scheduled(DAILY);
    await service.settled();
    await expectOneResult(runId);
    expect(endpoint.seen).toHaveLength(isLost ? 2 : 1);
  });

  it("is given up by the reaper after five attempts", async () => {
    endpoint.answer = (request) => {
      service.faults.set({ service: "db", mode: "error", count: 1 });
      return answersRightly(request);
    };
    const before = await used(service, "user", owner.id);
    const runId = await addUnpublished();
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect((await read(runId)).status).toBe(attempt === 1 ? "queued" : "running");
      expect(await deliver(service, "dispatch", runId)).toBe(507);
      await nextMinute();
    }
    expect(endpoint.seen).toHaveLength(5);
    expect(await read(runId)).toMatchObject({ status: "failed", failure_code: "service_error" });
    service.faults.set({ service: "qstash", mode: "none" });
    expect(await used(service, "user", owner.id)).toBe(before);
  });
});
