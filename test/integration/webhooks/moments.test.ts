import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { expireCertifications } from "../../../shared/certification/expire.ts";
import { type Event, startReceiver } from "../../agents/receiver.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { json, type Listening } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addEnded, buy, goOn, shortenSuites } from "../payments/certify-support.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { addTeam } from "../runs/schedules-support.ts";
import { addAgent, addRun, addSuite, answersRightly, range, startAgent, type TestSuite } from "../runs/support.ts";
import { SECRET, subscribe } from "./support.ts";

const START = Date.parse("2027-03-25T08:55:00.000Z");
const TYPES = ["session.completed", "certification.updated", "allowance.exhausted"];

let service: TestService;
let endpoint: Consumer;
let receiver: Listening;
let suite: TestSuite;
let owner: User;
let agent: string;
let clock = START;
const events: Event[] = [];
const refused: string[] = [];

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(clock) } });
  endpoint = await startAgent();
  // The receiver refuses what is not signed with the secret.
  receiver = await startReceiver({
    secret: SECRET,
    now: () => new Date(clock),
    take: (event) => void events.push(event),
    log: (line) => void refused.push(line),
  });
  suite = await addSuite(service, 3);
});

afterAll(async () => {
  await receiver.close();
  await endpoint.stop();
  await service.stop();
});

beforeEach(async () => {
  clock = START;
  await service.sql("update tasks set is_active = true");
  owner = await newUser(service, { plan: "team", verified: true });
  agent = await addAgent(owner, { endpoint: endpoint.url });
  await subscribe(owner, receiver.url, { event_types: TYPES });
  await service.settled();
  events.length = 0;
  endpoint.answer = answersRightly;
});

/** The data of what was told of this type, once all that is due is done. */
async function told(type: string): Promise<Event["data"][]> {
  await service.settled();
  expect(refused).toEqual([]);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  return events.filter((event) => event.type === type).map(({ data }) => data);
}

describe("session.completed", () => {
  it("comes once for each session, with how its runs ended, though they end side by side", async () => {
    let calls = 0;
    endpoint.answer = (request) => {
      calls += 1;
      return calls > 3 ? answersRightly(request) : json(calls > 1 ? 500 : 200, { output: "no" });
    };
    const batch = () => owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id, repeats: 2 });
    const batches = await Promise.all([batch(), batch()]);
    const data = await told("session.completed");
    const sessions = batches.map(({ body }) => String(body[0].screening_session_id));
    expect(data.map((one) => String(one["screening_session_id"])).toSorted()).toEqual(sessions.toSorted());
    for (const one of data) {
      const id = String(one["screening_session_id"]);
      const { body } = await owner.call("GET", `/api/v1/screening-sessions/${id}`);
      const { completed, failed, cancelled, passed } = body.counts;
      expect(one).toEqual({
        agent_id: agent,
        screening_session_id: id,
        suite_id: suite.id,
        trigger: "manual",
        status: "completed",
        counts: { completed, failed, cancelled, passed },
      });
      expect(completed + failed).toBe(6);
    }
    // A single run has no session.
    await addRun(owner, agent, suite.tasks[0] ?? "");
    expect(await told("session.completed")).toHaveLength(2);
  });

  it("comes once for a session that several cancel at once", async () => {
    service.faults.set({ service: "qstash", mode: "error" });
    const { body } = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id });
    const id = String(body[0].screening_session_id);
    await service.settled();
    service.faults.set({ service: "qstash", mode: "none" });
    await Promise.all(range(4).map(() => owner.call("POST", `/api/v1/screening-sessions/${id}/cancel`)));
    expect(await told("session.completed")).toEqual([
      expect.objectContaining({
        screening_session_id: id,
        status: "cancelled",
        counts: { completed: 0, failed: 0, cancelled: 3, passed: 0 },
      }),
    ]);
  });
});

describe("certification.updated", () => {
  it.each([
    [5, "certified"],
    [1, "not_certified"],
  ])("comes once with the verdict on %i of 5 runs, and so does the end of its session", async (passed, status) => {
    const id = await addEnded(service, { agent, owner, scored: suite.tasks, made: [{ passed }] });
    await Promise.all(range(3).map(() => goOn(service, id)));
    const [data, ...more] = await told("certification.updated");
    expect([data, more]).toMatchObject([{ agent_id: agent, certification_id: id, status, paused_reason: null }, []]);
    const { body } = await owner.call("GET", `/api/v1/certify/status?agent_id=${agent}`);
    expect(data).toMatchObject({ score: body.score, issued_at: body.issued_at, expires_at: body.expires_at });
    expect(await told("session.completed")).toMatchObject([
      { screening_session_id: body.screening_session_id, trigger: "certification", counts: { passed } },
    ]);
    if (status !== "certified") return;
    clock = Date.parse(body.expires_at);
    const ctx = contextOf(service, () => new Date(clock));
    await Promise.all(range(2).map(() => expireCertifications(ctx, null)));
    await service.sql("update outbox set due_at = now()");
    await service.app.scheduled("* * * * *");
    expect((await told("certification.updated")).map((one) => one["status"])).toEqual([status, "expired"]);
  });

  it("comes when one begins, and tells of its session only with the verdict", async () => {
    await shortenSuites(service);
    expect((await buy(owner, agent)).status).toBe(200);
    const statuses = (await told("certification.updated")).map((one) => String(one["status"]));
    expect(statuses.toSorted()).toEqual(["certified", "screening"]);
    expect(await told("session.completed")).toMatchObject([{ trigger: "certification", counts: { completed: 10 } }]);
  });
});

describe("allowance.exhausted", () => {
  const use = (kind: string, holder: string, count: number) =>
    service.sql(
      `insert into allowances (kind, owner, period, used) values ($1, $2, '2027-03', $3)
       on conflict (kind, owner, period) do update set used = excluded.used`,
      [kind, holder, count],
    );
  const run = (agentId: string) => owner.call("POST", "/api/v1/runs", { agent_id: agentId, task_id: suite.tasks[0] });
  const exhausted = (team: string | null) => ({
    team_id: team,
    period: "2027-03",
    limit: 5000,
    used: 5000,
    resets_at: "2027-04-01T00:00:00.000Z",
  });

  it("comes once a month and limit to the account whose last runs are taken at once, mailed or not", async () => {
    await owner.call("PATCH", "/api/v1/users/me/notifications", { allowance: false });
    await use("user", owner.id, 4996);
    expect((await Promise.all(range(6).map(() => run(agent)))).filter(({ status }) => status < 300)).toHaveLength(4);
    expect(await told("allowance.exhausted")).toEqual([exhausted(null)]);
    await use("user", owner.id, 4999);
    await run(agent);
    expect(await told("allowance.exhausted")).toHaveLength(1);
    await service.sql("update users set plan = 'enterprise' where id = $1", [owner.id]);
    await use("user", owner.id, 49_999);
    await run(agent);
    expect((await told("allowance.exhausted")).map(({ limit }) => limit)).toEqual([5000, 50_000]);
  });

  it("of a workspace comes to the workspace's webhooks alone, also to those of another agent of it", async () => {
    const team = await addTeam(service, owner);
    const [runner, other] = [
      await addAgent(owner, { team_id: team, endpoint: endpoint.url }),
      await addAgent(owner, { team_id: team }),
    ];
    await use("team", team, 4999);
    await subscribe(owner, receiver.url, { event_types: TYPES, agent_id: other });
    await run(runner);
    expect(await told("allowance.exhausted")).toEqual([exhausted(team)]);
  });
});
