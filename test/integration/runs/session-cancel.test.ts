import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, answersRightly, deliver, range, startAgent, type TestSuite, used } from "./support.ts";

interface Run {
  id: string;
  task_id: string;
  status: string;
  passed: boolean | null;
  screening_session_id: string;
}

let service: TestService;
let owner: User;
let stranger: User;
let endpoint: Consumer;
let agent: string;
let suite: TestSuite;

beforeAll(async () => {
  service = await startService();
  [owner, stranger] = [await newUser(service, { plan: "enterprise" }), await newUser(service)];
  endpoint = await startAgent();
  agent = await addAgent(owner, { endpoint: endpoint.url });
  suite = await addSuite(service, 3);
});

beforeEach(() => {
  endpoint.answer = answersRightly;
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

const taken = () => used(service, "user", owner.id);
const act = (session: string, what: "cancel" | "rerun", body?: object, headers = {}, who: Caller = owner) =>
  who.call("POST", `/api/v1/screening-sessions/${session}/${what}`, body, headers);
const read = async (session: string) => (await owner.call("GET", `/api/v1/screening-sessions/${session}`)).body;

/** Reserves a session that nothing takes up while `work` goes on; then the queue carries on to the end. */
async function reserved(repeats: number, work: (session: string, runs: Run[]) => Promise<void>): Promise<string> {
  service.faults.set({ service: "qstash", mode: "hang" });
  const body = { agent_id: agent, suite_id: suite.id, repeats };
  const { body: runs } = await owner.call<Run[]>("POST", "/api/v1/runs/batch", body);
  const session = runs[0]?.screening_session_id ?? "";
  try {
    await work(session, runs);
  } finally {
    service.faults.set({ service: "qstash", mode: "none" });
  }
  await service.settled();
  return session;
}

describe("cancelling a session", () => {
  it("takes back exactly what was not taken up, however both race, and is told when the rest is final", async () => {
    const before = await taken();
    const answers: { status: number; body: { status: string } }[] = [];
    const session = await reserved(4, async (id, runs) => {
      expect((await act(id, "cancel", undefined, {}, stranger)).status).toBe(403);
      const claims = runs.slice(0, 8).map(({ id: run }) => deliver(service, "dispatch", run));
      const cancels = range(3).map(async () => answers.push(await act(id, "cancel")));
      await Promise.all([...claims, ...cancels]);
    });
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const after = await read(session);
    const { cancelled, completed, queued, running, failed } = after.counts;
    expect([queued, running, failed, cancelled + completed]).toEqual([0, 0, 0, 12]);
    expect(cancelled).toBeGreaterThanOrEqual(4);
    expect(after).toMatchObject({ status: "cancelled", finished_at: expect.any(String) });
    expect((await taken()) - before).toBe(completed);
    expect((await act(session, "cancel")).body).toEqual(after);
    // What was owed to the queue of cancelled runs is owed no more.
    expect(await service.sql("select id from outbox where consumer = 'dispatch'")).toEqual([]);
  });

  it("leaves one that is over as it was", async () => {
    const session = await reserved(1, async () => {});
    const before = await read(session);
    expect(before).toMatchObject({ status: "completed", evidence_cost_usd: 0.003 });
    expect(before.duration_ms).toBe(Date.parse(before.finished_at) - Date.parse(before.started_at));
    expect((await act(session, "cancel")).body).toEqual(before);
  });
});

describe("running a session's failures again", () => {
  it("makes a session of the tasks that did not pass, or that failed, once for one Idempotency-Key", async () => {
    const [passes, fails, breaks] = suite.tasks;
    endpoint.answer = (request) => {
      const { run_id } = JSON.parse(request.body.toString());
      const task = tasksOf.get(run_id);
      if (task === breaks) return json(500, {});
      return task === fails ? json(200, { output: "no" }) : answersRightly(request);
    };
    const tasksOf = new Map<string, string>();
    const session = await reserved(2, async (id, runs) => {
      for (const run of runs) tasksOf.set(run.id, run.task_id);
      expect((await act(id, "rerun", {})).body).toMatchObject({ status: 409, code: "run_in_progress" });
    });
    expect(await read(session)).toMatchObject({ status: "completed", counts: { passed: 2, failed: 2, completed: 4 } });
    const before = await taken();
    const key = { "Idempotency-Key": "again" };
    const answers = await Promise.all(range(2).map(() => act(session, "rerun", { which: "not_passed" }, key)));
    const made = answers.find(({ status }) => status === 200);
    expect(made?.body.map(({ task_id }: Run) => task_id)).toEqual([fails, fails, breaks, breaks]);
    const replay = await act(session, "rerun", { which: "not_passed" }, key);
    expect([replay.status, replay.body.map(({ id }: Run) => id)]).toEqual([200, made?.body.map(({ id }: Run) => id)]);
    expect((await taken()) - before).toBe(4);
    const failed = await act(session, "rerun", { which: "failed" });
    expect(failed.body.map(({ task_id }: Run) => task_id)).toEqual([breaks, breaks]);
    endpoint.answer = answersRightly;
    await service.settled();
    expect(passes).toBeDefined();
    const all = await act(await reserved(1, async () => {}), "rerun", {});
    expect(all.body).toMatchObject({ status: 422, code: "task_unavailable" });
    expect((await act(session, "rerun", {}, {}, stranger)).status).toBe(403);
    await service.sql("update tasks set is_active = false where id = any($1)", [[fails, breaks]]);
    expect((await act(session, "rerun", { which: "not_passed" })).body).toMatchObject({ code: "task_unavailable" });
    const later = await act(session, "rerun", { which: "not_passed" }, key);
    expect([later.status, later.text]).toEqual([200, replay.text]);
    await service.sql("update tasks set is_active = true where id = any($1)", [[fails, breaks]]);
  });
});
