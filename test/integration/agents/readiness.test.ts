import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Answer, type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  addAgent,
  addRun,
  addSuite,
  answersRightly,
  range,
  startAgent,
  tally,
  type TestSuite,
} from "../runs/support.ts";

const HOUR = 3_600_000;

let service: TestService;
let agent: Consumer;
let owner: User;
let suite: TestSuite;
let late = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(Date.now() + late) } });
  agent = await startAgent();
  owner = await newUser(service, { plan: "pro" });
  suite = await addSuite(service, 1);
});

beforeEach(() => {
  late = 0;
  agent.answer = answersRightly;
  agent.seen.splice(0);
});

afterAll(async () => {
  await agent.stop();
  await service.stop();
});

interface Readiness {
  endpoint: {
    state: string;
    checked_at: string | null;
    valid_until: string | null;
    failure_code: string | null;
    detail: string | null;
  };
  telemetry: { state: string; last_received_at: string | null };
}

const path = (id: string) => `/api/v1/agents/${id}/readiness`;
const read = (id: string, who: Caller = owner): Promise<Answer<Readiness>> => who.call("GET", path(id));
const check = (id: string, who: Caller = owner): Promise<Answer<Readiness>> => who.call("POST", `${path(id)}/check`);
const live = (fields: object = {}) => addAgent(owner, { endpoint: agent.url, ...fields });

const UNCHECKED = {
  state: "unchecked",
  checked_at: null,
  valid_until: null,
  latency_ms: null,
  failure_code: null,
  detail: null,
};

/** Reads with a key, which outlives a session, when the service's clock is `ms` ahead. */
async function readLater(id: string, ms: number): Promise<Readiness> {
  late = 0;
  const made = await owner.call("POST", "/api/v1/api-keys", { name: `key ${id} ${ms}`, scope: "read" });
  late = ms;
  return (await read(id, caller(service, { "x-api-key": made.body.key }))).body;
}

describe("the endpoint", () => {
  it("is unchecked at first, ready by a check, and unchecked again an hour after it", async () => {
    const id = await live();
    expect((await read(id)).body).toMatchObject({ agent_id: id, endpoint: UNCHECKED });
    const checked = await check(id);
    expect([checked.status, checked.body.endpoint]).toMatchObject([200, { state: "ready", failure_code: null }]);
    const { checked_at, valid_until } = checked.body.endpoint;
    expect(Date.parse(valid_until ?? "") - Date.parse(checked_at ?? "")).toBe(HOUR);
    expect((await read(id)).body).toEqual(checked.body);
    expect((await readLater(id, HOUR - 60_000)).endpoint).toEqual(checked.body.endpoint);
    expect((await readLater(id, HOUR)).endpoint).toEqual({ ...UNCHECKED, checked_at });
    expect(agent.seen).toHaveLength(1);
  });

  it("is failing by a check that fails, with its code, and ready by the next that does not", async () => {
    const id = await live();
    agent.answer = () => json(500, {});
    const failing = { state: "failing", failure_code: "agent_http_error" };
    // What happened is told in the answer of the check alone: nothing keeps it.
    const detail = expect.stringMatching(/HTTP status 500; 200 is expected\. Answer a POST /);
    expect((await check(id)).body.endpoint).toMatchObject({ ...failing, detail });
    expect((await read(id)).body.endpoint).toMatchObject({ ...failing, detail: null });
    agent.answer = answersRightly;
    expect((await check(id)).body.endpoint).toMatchObject({ state: "ready", failure_code: null });
  });

  it("goes by the newer of the last check and the last real run", async () => {
    const id = await live();
    agent.answer = () => json(500, {});
    await addRun(owner, id, suite.tasks[0] ?? "");
    await service.settled();
    expect((await read(id)).body.endpoint).toMatchObject({ state: "failing", failure_code: "agent_http_error" });
    agent.answer = answersRightly;
    expect((await check(id)).body.endpoint.state).toBe("ready");
    agent.answer = () => ({ status: 200, body: "no JSON" });
    await addRun(owner, id, suite.tasks[0] ?? "");
    await service.settled();
    expect((await read(id)).body.endpoint).toMatchObject({ state: "failing", failure_code: "agent_invalid_response" });
  });

  it("does not go by a run that failed by our fault", async () => {
    const id = await live();
    await addRun(owner, id, suite.tasks[0] ?? "");
    await service.settled();
    await service.sql("update runs set status = 'failed', failure_code = 'service_error' where agent_id = $1", [id]);
    expect((await read(id)).body.endpoint).toEqual(UNCHECKED);
  });

  it("goes by a run behind any number that wait, and by none behind a thousand that called nobody", async () => {
    const id = await live();
    await addRun(owner, id, suite.tasks[0] ?? "");
    await service.settled();
    const ready = { state: "ready", failure_code: null };
    const added = (status: string, runs: number) =>
      service.sql(
        `insert into runs (agent_id, task_id, domain, status, trigger, scope, simulated, answered_at)
          select agent_id, task_id, domain, $2, trigger, scope, true, answered_at
          from runs cross join generate_series(1, $3::integer) where agent_id = $1 and not simulated`,
        [id, status, runs],
      );
    await added("queued", 1100);
    await added("completed", 999);
    expect((await read(id)).body.endpoint).toMatchObject(ready);
    await added("completed", 1);
    expect((await read(id)).body.endpoint).toEqual(UNCHECKED);
  });

  it("is unchecked again once the agent is changed, whatever a check or a run of before has shown", async () => {
    const id = await live();
    await addRun(owner, id, suite.tasks[0] ?? "");
    await service.settled();
    const { checked_at } = (await check(id)).body.endpoint;
    await owner.call("PATCH", `/api/v1/agents/${id}`, { agent_protocol: "a2a" });
    expect((await read(id)).body.endpoint).toEqual({ ...UNCHECKED, checked_at });
  });

  it("is not judged by a check of what it was before a change that came in between", async () => {
    const id = await live();
    agent.answer = async (request) => {
      await owner.call("PATCH", `/api/v1/agents/${id}`, { endpoint: `${agent.url}/moved` });
      return answersRightly(request);
    };
    expect((await check(id)).body.endpoint).toEqual(UNCHECKED);
    expect(await service.sql("select from readiness_checks where agent_id = $1", [id])).toEqual([]);
  });

  it("is checked twice at once, and both checks are told what they found", async () => {
    const id = await live();
    const answers = await Promise.all(range(4).map(() => check(id)));
    expect(tally(answers)).toEqual({ 200: 4 });
    expect(answers.map(({ body }) => body.endpoint.state)).toEqual(Array(4).fill("ready"));
  });

  it("is not applicable to a simulated agent, which is not called", async () => {
    const id = await addAgent(owner);
    const expected = { ...UNCHECKED, state: "not_applicable" };
    expect((await read(id)).body.endpoint).toEqual(expected);
    expect([(await check(id)).status, (await check(id)).body.endpoint]).toEqual([200, expected]);
  });

  it.each([
    [
      "of a retired mode",
      "update agents set connection_mode = 'customer_llm' where id = $1",
      410,
      "provider_custody_retired",
    ],
    ["that is deactivated", "update agents set is_active = false where id = $1", 409, "agent_inactive"],
  ])("of an agent %s is not checked", async (_which, change, status, code) => {
    const id = await live();
    await service.sql(change, [id]);
    expect((await read(id)).body.endpoint.state).toBe("not_applicable");
    const answer = await check(id);
    expect([answer.status, answer.body]).toMatchObject([status, { code }]);
    expect(agent.seen).toEqual([]);
  });

  it("is forgotten with its owner's account, though the agent's counted runs stay", async () => {
    const leaver = await newUser(service);
    const id = await addAgent(leaver, { endpoint: agent.url });
    await addRun(leaver, id, suite.tasks[0] ?? "");
    await service.settled();
    expect((await check(id, leaver)).body.endpoint.state).toBe("ready");
    await service.sql("update users set deletion_scheduled_for = now() - interval '1 day' where id = $1", [leaver.id]);
    await service.app.scheduled("17 3 * * *");
    expect(await service.sql("select count(*)::int as runs from runs where agent_id = $1", [id])).toEqual([
      { runs: 1 },
    ]);
    expect(await service.sql("select from readiness_checks where agent_id = $1", [id])).toEqual([]);
  });

  it("costs two statements to check and one to read", async () => {
    const id = await live();
    const spent = async (work: () => Promise<unknown>) => {
      service.counters.reset();
      await work();
      return service.counters.db.requests;
    };
    expect([await spent(() => check(id)), await spent(() => read(id))]).toEqual([2, 1]);
  });
});

describe("telemetry", () => {
  it.each([
    ["not_configured", "without a credential", null],
    ["waiting", "with a credential that was never used", "null"],
    ["receiving", "with one used 23 hours ago", "now() - interval '23 hours'"],
    ["waiting", "with one used 25 hours ago", "now() - interval '25 hours'"],
  ])("is %s %s", async (state, _which, received) => {
    const id = await live();
    if (received !== null) {
      await service.sql(
        `insert into otlp_tokens (agent_id, token_hash, prefix, last_received_at) values ($1, $2, 'otlp_', ${received})`,
        [id, id],
      );
    }
    const { telemetry } = (await read(id)).body;
    expect(telemetry).toMatchObject({ state });
    expect(telemetry.last_received_at === null).toBe(received === null || received === "null");
  });
});

describe("a workspace's agent is seen and checked by who may run it", () => {
  const RIGHTS = { viewer: 403, member: 403, runner: 200, editor: 200, admin: 200, owner: 200 };
  let people: [role: string, user: User][];
  let id: string;

  beforeAll(async () => {
    people = await Promise.all(
      Object.keys(RIGHTS).map(async (role) => [role, await newUser(service)] as [string, User]),
    );
    const [team] = await service.sql<{ id: string }>(
      "insert into teams (name, owner_id) values ('Readiness', $1) returning id",
      [people.at(-1)?.[1].id],
    );
    for (const [role, { id: userId }] of people) {
      const values = [team?.id, userId, role];
      await service.sql("insert into team_members (team_id, user_id, role) values ($1, $2, $3)", values);
    }
    id = await live();
    await service.sql("update agents set team_id = $1 where id = $2", [team?.id, id]);
  });

  it.each([
    [true, 403],
    [false, 404],
  ])("public %s: strangers get %i", async (isPublic, stranger) => {
    await service.sql("update agents set is_public = $1 where id = $2", [isPublic, id]);
    const statuses = async (who: Caller) => [(await read(id, who)).status, (await check(id, who)).status];
    for (const [role, user] of people) {
      const status = RIGHTS[role as keyof typeof RIGHTS];
      expect(await statuses(user), role).toEqual([status, status]);
    }
    // Whoever made it has no right of their own in the workspace.
    expect(await statuses(owner)).toEqual([stranger, stranger]);
    expect(await statuses(caller(service))).toEqual([401, 401]);
  });
});
