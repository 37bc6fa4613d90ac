import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  addAgent,
  addRun,
  addSuite,
  answersRightly,
  deliver,
  from,
  range,
  reserved,
  startAgent,
  type TestSuite,
  used,
} from "./support.ts";

let service: TestService;
let owner: User;
let anonymous: Caller;
let endpoint: Consumer;
let agent: string;
let suite: TestSuite;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "pro" });
  anonymous = caller(service);
  endpoint = await startAgent();
  agent = await addAgent(owner, { endpoint: endpoint.url, allow_trial: true });
  suite = await addSuite(service, 1);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

const task = () => suite.tasks[0] ?? "";
const cancel = (runId: string, who: Caller = owner, headers = {}) =>
  who.call("POST", `/api/v1/runs/${runId}/cancel`, undefined, headers);
const read = async (runId: string) => (await owner.call("GET", `/api/v1/runs/${runId}`)).body;

/** Runs `work` while no message gets to the queue. */
async function withoutQueue<T>(work: () => Promise<T>): Promise<T> {
  service.faults.set({ service: "qstash", mode: "hang" });
  try {
    return await work();
  } finally {
    service.faults.set({ service: "qstash", mode: "none" });
  }
}

describe("a single run", () => {
  it("is taken with 202 and its address, has no session, and takes one of the month", async () => {
    const before = await reserved(service);
    const answer = await owner.call("POST", "/api/v1/runs", { agent_id: agent, task_id: task() });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      id: expect.any(String),
      agent_id: agent,
      task_id: task(),
      status: "queued",
      screening_session_id: null,
      created_at: expect.stringMatching(/Z$/),
    });
    expect(answer.headers.get("location")).toBe(`/api/v1/runs/${answer.body.id}`);
    const after = await reserved(service);
    expect([after["runs"], after["allowances"], after["sessions"]]).toEqual([
      (before["runs"] ?? 0) + 1,
      (before["allowances"] ?? 0) + 1,
      before["sessions"],
    ]);
    await service.settled();
    expect(await read(answer.body.id)).toMatchObject({ trigger: "manual", repeat_index: null, scope: "personal" });
  });

  it.each<[string, () => object, number, string]>([
    ["an unknown task", () => ({ task_id: "01900000-0000-7000-8000-000000000000" }), 404, "not_found"],
    ["an unknown agent", () => ({ agent_id: "01900000-0000-7000-8000-000000000000" }), 404, "not_found"],
    ["no uuid", () => ({ task_id: "1" }), 422, "validation_failed"],
    ["repeats, which only a batch has", () => ({ repeats: 2 }), 422, "unrecognized_field"],
  ])("of %s is refused and takes nothing", async (_case, fields, status, code) => {
    const before = await reserved(service);
    const answer = await owner.call("POST", "/api/v1/runs", { agent_id: agent, task_id: task(), ...fields() });
    expect(answer).toMatchObject({ status, body: { code } });
    expect(await reserved(service)).toEqual(before);
  });

  it("of a secret task does not exist for its caller", async () => {
    const secret = await addSuite(service, 1, { secret: true });
    const answer = await owner.call("POST", "/api/v1/runs", { agent_id: agent, task_id: secret.tasks[0] });
    expect(answer.status).toBe(404);
  });
});

describe("cancelling", () => {
  it("a queued run gives its allowance back, once, however often it is asked", async () => {
    const before = await used(service, "user", owner.id);
    const runId = await withoutQueue(async () => {
      const id = await addRun(owner, agent, task());
      const answers = await Promise.all(range(10).map((n) => cancel(id, owner, from(n))));
      expect(answers.map(({ status }) => status)).toEqual(range(10).map(() => 200));
      return id;
    });
    expect(await read(runId)).toMatchObject({ status: "cancelled", passed: null, evidence_signed: false });
    expect(await used(service, "user", owner.id)).toBe(before);
    expect(await service.sql("select from outbox where id = $1", [runId])).toEqual([]);
  });

  it("makes late messages about the run do nothing", async () => {
    await service.settled();
    endpoint.seen.length = 0;
    const runId = await withoutQueue(async () => {
      const id = await addRun(owner, agent, task());
      await cancel(id);
      return id;
    });
    await service.settled();
    for (const consumer of ["dispatch", "score", "expire"]) expect(await deliver(service, consumer, runId)).toBe(200);
    await service.app.scheduled(EVERY_MINUTE);
    await service.settled();
    expect(endpoint.seen).toEqual([]);
    expect((await read(runId)).status).toBe("cancelled");
  });

  it("a running run is refused with run_in_progress: it ends by itself, is signed and charged", async () => {
    const before = await used(service, "user", owner.id);
    const refused: unknown[] = [];
    endpoint.answer = async (request) => {
      const { status, body } = await cancel(String(request.headers["x-service-run-id"]));
      refused.push([status, body.code]);
      return json(200, { output: "wrong" });
    };
    const runId = await addRun(owner, agent, task());
    await service.settled();
    endpoint.answer = answersRightly;
    expect(refused).toEqual([[409, "run_in_progress"]]);
    expect(await read(runId)).toMatchObject({ status: "completed", passed: false, evidence_signed: true });
    expect(await used(service, "user", owner.id)).toBe(before + 1);
  });

  it.each([
    ["waits for its callback", "awaiting_callback = true, callback_hash = '00'"],
    ["waits to be taken up again", "attempt = 1"],
    ["waits to be scored", "answered_at = now()"],
  ])("a run that %s is refused, too, and stays as it is", async (_state, columns) => {
    await withoutQueue(async () => {
      const runId = await addRun(owner, agent, task());
      await service.sql(`update runs set status = 'running', started_at = now(), ${columns} where id = $1`, [runId]);
      const row = () => service.sql("select * from runs where id = $1", [runId]);
      const before = await row();
      expect(await cancel(runId)).toMatchObject({ status: 409, body: { code: "run_in_progress" } });
      expect(await row()).toEqual(before);
      await service.sql("delete from runs where id = $1", [runId]);
    });
  });

  it("a run that is taken up at the same moment either is cancelled uncalled or goes on to its end", async () => {
    endpoint.seen.length = 0;
    const raced = await withoutQueue(async () => {
      const ids: string[] = [];
      for (const _n of range(24)) ids.push(await addRun(owner, agent, task()));
      return Promise.all(
        ids.map(async (id, n) => {
          const [answer] = await Promise.all([cancel(id, owner, from(n)), deliver(service, "dispatch", id)]);
          return { id, answer };
        }),
      );
    });
    await service.settled();
    const called = new Set(endpoint.seen.map(({ headers }) => headers["x-service-run-id"]));
    for (const { id, answer } of raced) {
      const { status } = await read(id);
      const outcome = [answer.status, answer.body.code ?? answer.body.status, status, called.has(id)];
      expect([
        [200, "cancelled", "cancelled", false],
        [409, "run_in_progress", "completed", true],
        // Cancelled too late altogether: the run had ended.
        [200, "completed", "completed", true],
      ]).toContainEqual(outcome);
    }
  });

  it("a final run changes nothing", async () => {
    const runId = await addRun(owner, agent, task());
    await service.settled();
    const before = await owner.call("GET", `/api/v1/runs/${runId}`);
    expect((await cancel(runId)).status).toBe(200);
    const after = await owner.call("GET", `/api/v1/runs/${runId}`);
    expect(after.text).toBe(before.text);
  });

  it("an anonymous trial, by the agent's owner, gives it back to the address and to all", async () => {
    const before = [await used(service, "trial_address"), await used(service, "trial_global")];
    await withoutQueue(async () => {
      const runId = await addRun(anonymous, agent, task(), {}, from(7));
      expect((await cancel(runId)).body.status).toBe("cancelled");
    });
    expect([await used(service, "trial_address"), await used(service, "trial_global")]).toEqual(before);
  });

  it("ends a session whose runs are all cancelled as cancelled, otherwise as completed", async () => {
    const { session, runs } = await withoutQueue(async () => {
      const { body } = await owner.call("POST", "/api/v1/runs/batch", {
        agent_id: agent,
        suite_id: suite.id,
        repeats: 2,
      });
      await cancel(body[0].id);
      return { session: body[0].screening_session_id, runs: body.map(({ id }: { id: string }) => id) };
    });
    await service.settled();
    const path = `/api/v1/screening-sessions/${session}`;
    expect((await anonymous.call("GET", path)).body).toMatchObject({
      status: "completed",
      run_ids: runs,
      counts: { cancelled: 1, completed: 1, passed: 1, queued: 0, running: 0, failed: 0 },
    });
    const all = await withoutQueue(async () => {
      const { body } = await owner.call("POST", "/api/v1/runs/batch", {
        agent_id: agent,
        suite_id: suite.id,
        repeats: 2,
      });
      for (const { id } of body) await cancel(id);
      return body[0].screening_session_id;
    });
    expect((await anonymous.call("GET", `/api/v1/screening-sessions/${all}`)).body.status).toBe("cancelled");
  });

  it("is for who may run the agent, or asked for the run", async () => {
    const [stranger, viewer, runner] = [await newUser(service), await newUser(service), await newUser(service)];
    await service.sql("update users set plan = 'enterprise' where id = $1", [owner.id]);
    const [team] = await service.sql<{ id: string }>(
      "insert into teams (owner_id, name) values ($1, 'Team') returning id",
      [owner.id],
    );
    for (const [user, role] of [
      [owner, "owner"],
      [viewer, "viewer"],
      [runner, "runner"],
    ] as const) {
      await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, $3)", [
        team?.id,
        user.id,
        role,
      ]);
    }
    const shared = await addAgent(owner, { endpoint: endpoint.url, allow_trial: true });
    await service.sql("update agents set team_id = $1 where id = $2", [team?.id, shared]);
    await withoutQueue(async () => {
      const runId = await addRun(owner, shared, task());
      expect((await cancel(runId, anonymous)).status).toBe(401);
      expect((await cancel(runId, stranger)).status).toBe(403);
      expect((await cancel(runId, viewer)).status).toBe(403);
      expect((await cancel(runId, runner)).body.status).toBe("cancelled");
      const trial = await addRun(stranger, shared, task());
      expect((await cancel(trial, stranger)).body.status).toBe("cancelled");
    });
  });
});
