import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DAILY, EVERY_MINUTE } from "../../../functions/scheduled.ts";
import { caller, newUser, PASSWORD, type User } from "../../stack/client.ts";
import { signature } from "../../stack/broker/delivery.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, from, quietQueueClient, range, type TestSuite, used } from "./support.ts";
import { addSchedule, addTeam, SCHEDULES, type Schedule, slowDown } from "./schedules-support.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** When every test begins; tokens that are made then are good for a quarter of an hour. */
const START = Date.parse("2027-03-25T08:55:00.000Z");
/** When the schedules of most tests are due. */
const NINE = START + 5 * MINUTE;

let service: TestService;
let suite: TestSuite;
let user: User;
let runner: User;
let agentId: string;
let clock = START;
let tests = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(clock) } });
  suite = await addSuite(service, 1);
  [user, runner] = await Promise.all([newUser(service), newUser(service)]);
});

afterAll(() => service.stop());

beforeEach(async () => {
  clock = START;
  await service.sql("delete from screening_schedules");
  await service.sql("delete from allowances; update users set muted_notices = '{}'");
  await service.sql("update users set plan = 'pro', deletion_scheduled_for = null where id = $1", [user.id]);
  // Each test from an address of its own, so that no limit is shared.
  tests += 1;
  Object.assign(user, caller(service, { authorization: `Bearer ${user.token}`, ...from(tests) }));
  agentId = await addAgent(user);
});

const iso = (at: number): string => new Date(at).toISOString();
const daily = (fields: object = {}): Promise<Schedule> => addSchedule(user, agentId, { suite_id: suite.id, ...fields });

/** Lets the minute trigger find what is due at a time, and everything that it starts come to its end. */
async function minute(at: number): Promise<void> {
  clock = at;
  await service.app.scheduled(EVERY_MINUTE);
  await service.settled();
}

/** The schedule as its owner reads it, while the tokens of the test are good. */
async function read({ id }: Schedule, by: User = user): Promise<Schedule> {
  clock = START;
  return (await by.call<Schedule>("GET", `${SCHEDULES}/${id}`)).body;
}

/** When the screenings of an agent were started, oldest first. */
async function started(agent = agentId): Promise<string[]> {
  const sessions = await service.sql<{ created_at: Date }>(
    "select created_at from screening_sessions where agent_id = $1 order by created_at, id",
    [agent],
  );
  return sessions.map(({ created_at: at }) => at.toISOString());
}

/** Delivers a message as QStash does, signed; resolves to the status of the answer. */
async function post(path: string, message: object): Promise<number> {
  const url = service.url + path;
  const body = JSON.stringify(message);
  const key = service.settings["QSTASH_CURRENT_SIGNING_KEY"] ?? "";
  const headers = { "upstash-signature": signature(key, url, Buffer.from(body), Math.floor(Date.now() / 1000)) };
  return (await fetch(url, { method: "POST", headers, body })).status;
}

const redeliver = ({ id }: Schedule, due = NINE) => post("/queues/schedule", { schedule_id: id, due_at: iso(due) });

describe("a schedule that is due", () => {
  it("screens in its owner's name, with its trigger, from the usual allowance, and moves on", async () => {
    const schedule = await daily({ suite_id: undefined, task_ids: suite.tasks, repeats: 2 });
    await minute(NINE - 1);
    expect(await started()).toEqual([]);
    await minute(NINE);
    const after = await read(schedule);
    expect(after).toMatchObject({ last_run_at: iso(NINE), next_run_at: iso(NINE + DAY), last_error: null });
    const { body } = await user.call("GET", `/api/v1/screening-sessions/${after.last_screening_session_id}`);
    expect(body).toMatchObject({ agent_id: agentId, trigger: "scheduled", repeats: 2, status: "completed" });
    const runs = await user.call("GET", "/api/v1/runs?mine=true");
    expect(runs.body.items).toHaveLength(2);
    for (const run of runs.body.items) expect(run).toMatchObject({ trigger: "scheduled", status: "completed" });
    expect(await used(service, "user", user.id)).toBe(2);
  });

  it("is paid by the workspace where the agent belongs to one", async () => {
    await service.sql("update users set plan = 'team' where id = $1", [user.id]);
    const team = await addTeam(service, user, { runner });
    const shared = await addAgent(user, { team_id: team });
    await addSchedule(runner, shared, { suite_id: suite.id });
    await minute(NINE);
    const [run] = await service.sql("select user_id, team_id, trigger from runs where agent_id = $1", [shared]);
    expect(run).toEqual({ user_id: runner.id, team_id: team, trigger: "scheduled" });
    expect([await used(service, "team", team), await used(service, "user", runner.id)]).toEqual([1, 0]);
  });

  it("screens once for one time, though triggers meet", async () => {
    const others = await Promise.all(range(4).map(() => addAgent(user)));
    const agents = [agentId, ...others];
    for (const agent of agents) await addSchedule(user, agent, { suite_id: suite.id });
    clock = NINE;
    await Promise.all(range(3).map(() => service.app.scheduled(EVERY_MINUTE)));
    await minute(NINE + MINUTE);
    for (const agent of agents) expect(await started(agent)).toHaveLength(1);
    // With their agents off, what is due gives rise to its own message and no other: nor to mails, which nobody wants here.
    await user.call("PATCH", "/api/v1/users/me/notifications", { turned_off: false });
    await service.sql("update agents set is_active = false where user_id = $1", [user.id]);
    await slowDown(service);
    service.counters.reset();
    clock = NINE + DAY;
    await Promise.all(range(3).map(() => service.app.scheduled(EVERY_MINUTE)));
    await minute(NINE + DAY + MINUTE);
    expect(service.counters.snapshot().qstash.messages).toBe(agents.length);
    await service.sql("drop function dawdle cascade");
  });

  it("screens once for one time, though its message comes again and again", async () => {
    const schedule = await daily();
    clock = NINE;
    const answers = await Promise.all(range(4).map(() => redeliver(schedule)));
    // Those that meet the first while it is at work are to come again.
    expect([...new Set(answers)].filter((status) => status !== 500)).toEqual([200]);
    expect(await redeliver(schedule)).toBe(200);
    await service.settled();
    const once = await started();
    expect(once).toEqual([iso(NINE)]);
    const before = await read(schedule);
    // As if what came of it had not been noted any more.
    await service.sql("update screening_schedules set last_run_at = null, last_screening_session_id = null");
    clock = NINE + HOUR;
    expect(await redeliver(schedule)).toBe(200);
    expect(await started()).toEqual(once);
    expect((await read(schedule)).last_screening_session_id).toBe(before.last_screening_session_id);
    expect(await used(service, "user", user.id)).toBe(1);
  });

  it("makes up for times that were missed by one screening", async () => {
    const schedule = await daily({ cron: "0 * * * *" });
    await minute(NINE + DAY + 7 * MINUTE);
    await minute(NINE + DAY + 8 * MINUTE);
    expect(await started()).toEqual([iso(NINE + DAY + 7 * MINUTE)]);
    expect((await read(schedule)).next_run_at).toBe(iso(NINE + DAY + HOUR));
    await redeliver(schedule, NINE + 3 * HOUR);
    expect(await started()).toHaveLength(1);
  });

  it("loses nothing when the queue is down", async () => {
    quietQueueClient();
    await daily();
    service.faults.set({ service: "qstash", mode: "down" });
    await minute(NINE);
    service.faults.set({ service: "qstash", mode: "none" });
    await minute(NINE + MINUTE);
    expect(await started()).toEqual([]);
    await service.sql("update outbox set due_at = now()");
    await minute(NINE + 2 * MINUTE);
    expect(await started()).toEqual([iso(NINE + 2 * MINUTE)]);
  });

  it("makes up by one screening for the time that the queue missed and the one at which it is back", async () => {
    quietQueueClient();
    const agents = [agentId, await addAgent(user), await addAgent(user), await addAgent(user)];
    for (const agent of agents) await addSchedule(user, agent, { suite_id: suite.id, cron: "0 * * * *" });
    service.faults.set({ service: "qstash", mode: "down" });
    await minute(NINE);
    service.faults.set({ service: "qstash", mode: "none" });
    await service.sql("update outbox set due_at = now()");
    await minute(NINE + HOUR);
    for (const agent of agents) expect(await started(agent)).toEqual([iso(NINE + HOUR)]);
  });

  it("says so when a fault of ours kept it from its screening, and goes on", async () => {
    const schedule = await daily();
    const sourceBody = Buffer.from(JSON.stringify({ schedule_id: schedule.id, due_at: iso(NINE) })).toString("base64");
    const died = () => post("/queues/dead", { url: `${service.url}/queues/schedule`, sourceBody });
    await service.sql("alter table runs add constraint fault check (created_at is null) not valid");
    expect(await died()).toBe(200);
    await service.sql("alter table runs drop constraint fault");
    expect(await read(schedule)).toMatchObject({
      is_active: true,
      last_error: expect.stringMatching(/service failed/),
    });
    await minute(NINE);
    expect(await read(schedule)).toMatchObject({ last_run_at: iso(NINE), last_error: null });
    // As if the screening had been started, and what came of it could not be noted.
    await service.sql("update screening_schedules set last_run_at = null, last_screening_session_id = null");
    expect(await died()).toBe(200);
    expect(await read(schedule)).toMatchObject({ last_screening_session_id: expect.any(String), last_error: null });
    expect(await started()).toEqual([iso(NINE)]);
  });
});

describe("the week in which the clocks of Berlin change", () => {
  it("has exactly the screenings that its clocks ask for", async () => {
    const other = await addAgent(user);
    await addSchedule(user, agentId, { suite_id: suite.id, timezone: "Europe/Berlin", cron: "30 2 * * *" });
    await addSchedule(user, other, { suite_id: suite.id, timezone: "Europe/Berlin", cron: "0 */6 * * *" });
    // When it is due, an hour off to either side, and when UTC's clock would have it; through two days for the other too.
    const times = (day: number) => [0.5, 1, 1.5, 2.5, ...(day < 2 ? [4, 5, 10, 11, 16, 17, 22, 23] : [])];
    for (const day of range(5)) {
      for (const hour of times(day)) await minute(Date.parse("2027-03-27T00:00Z") + day * DAY + hour * HOUR);
    }
    const at = (day: number, time: string) => `2027-03-${day}T${time}:00.000Z`;
    // What both missed before the first trigger is made up for by one each.
    expect(await started()).toEqual([
      at(27, "00:30"),
      at(27, "01:30"),
      at(28, "01:00"),
      ...[29, 30, 31].map((day) => at(day, "00:30")),
    ]);
    expect((await started(other)).slice(0, 9)).toEqual([
      at(27, "00:30"),
      ...["05:00", "11:00", "17:00", "23:00"].map((time) => at(27, time)),
      ...["04:00", "10:00", "16:00", "22:00"].map((time) => at(28, time)),
    ]);
  });
});

describe("a schedule that can't screen this time", () => {
  it.each<[string, RegExp, () => Promise<unknown>, () => Promise<unknown>]>([
    [
      "without allowance",
      /allowance of 1000 runs does not suffice: 1000 are used/,
      () =>
        service.sql("insert into allowances (kind, owner, period, used) values ('user', $1, '2027-03', 1000)", [
          user.id,
        ]),
      () => service.sql("delete from allowances where owner = $1", [user.id]),
    ],
    [
      "whose suite has become empty",
      /no active task/,
      () => service.sql("update tasks set is_active = false where suite_id = $1", [suite.id]),
      () => service.sql("update tasks set is_active = true where suite_id = $1", [suite.id]),
    ],
    [
      "which the plan has no room for",
      /includes no schedules.*goes on with a plan that does/,
      () => service.sql("update users set plan = 'free' where id = $1", [user.id]),
      () => service.sql("update users set plan = 'pro' where id = $1", [user.id]),
    ],
  ])("%s says why and goes on", async (_what, reason, hinder, relieve) => {
    const schedule = await daily();
    await hinder();
    await minute(NINE);
    const hindered = await read(schedule);
    await relieve();
    expect(hindered).toMatchObject({ is_active: true, next_run_at: iso(NINE + DAY), last_run_at: null });
    expect(hindered.last_error).toMatch(reason);
    expect(await started()).toEqual([]);
    await minute(NINE + DAY);
    expect(await read(schedule)).toMatchObject({ last_run_at: iso(NINE + DAY), last_error: null });
  });

  it("for a task that was retired says why and goes on", async () => {
    const { tasks } = await addSuite(service, 2);
    const schedule = await daily({ suite_id: undefined, task_ids: tasks });
    await service.sql("update tasks set is_active = false where id = $1", [tasks[1]]);
    await minute(NINE);
    expect(await read(schedule)).toMatchObject({ is_active: true, last_error: expect.stringMatching(/retired/) });
    expect(await started()).toEqual([]);
  });

  it("since a smaller plan is for fewer says so before it is due, and goes on once there is room for it", async () => {
    await service.sql("update users set plan = 'enterprise' where id = $1", [user.id]);
    const made: Schedule[] = [];
    for (const _one of range(7)) made.push(await daily());
    const waiting = () => Promise.all(made.map(async (one) => (await read(one)).waits_for_plan));
    await service.sql("delete from notices");
    service.mailbox.clear();
    await service.sql("update users set plan = 'pro' where id = $1", [user.id]);
    expect(await waiting()).toEqual(range(7).map((n) => n >= 5));
    await minute(NINE);
    const states = await Promise.all(made.map((schedule) => read(schedule)));
    expect(states.map(({ is_active: active, last_run_at: at }) => active && at === null)).toEqual(
      range(7).map((n) => n >= 5),
    );
    expect(service.mailbox.list(user.email), "one mail for both").toHaveLength(1);
    await user.call("PATCH", `${SCHEDULES}/${made[0]?.id}`, { is_active: false });
    expect(await waiting()).toEqual(range(7).map((n) => n >= 6));
    await minute(NINE + DAY);
    expect(await started()).toHaveLength(10);
  });
});

describe("a schedule whose ground is gone", () => {
  it.each<[string, RegExp, () => Promise<unknown>]>([
    ["agent is off", /deactivated.*turn the schedule on/, () => user.call("DELETE", `/api/v1/agents/${agentId}`)],
    [
      "agent's mode is retired",
      /provider credentials/,
      () => service.sql("update agents set connection_mode = 'customer_llm' where id = $1", [agentId]),
    ],
    [
      "account awaits deletion",
      /deletion/,
      () => service.sql("update users set deletion_scheduled_for = now() where id = $1", [user.id]),
    ],
    [
      "zone is not known any more",
      /zone/,
      () => service.sql("update screening_schedules set timezone = 'Europe/Atlantis'"),
    ],
  ])("because its %s is turned off and says why", async (_what, reason, change) => {
    const schedule = await daily();
    await change();
    await minute(NINE);
    const off = await read(schedule);
    expect(off).toMatchObject({ is_active: false, next_run_at: null, last_run_at: null });
    expect(off.last_error).toMatch(reason);
    await minute(NINE + DAY);
    expect(await started()).toEqual([]);
    expect(await used(service, "user", user.id)).toBe(0);
  });

  it.each([
    ["leaves the workspace", "delete from team_members where user_id = $1"],
    ["may no longer screen there", "update team_members set role = 'member' where user_id = $1"],
  ])("as its account %s is turned off, until another takes it over", async (_what, change) => {
    await service.sql("update users set plan = 'enterprise' where id = $1", [user.id]);
    const shared = await addAgent(user, { team_id: await addTeam(service, user, { runner }), is_public: false });
    const schedule = await addSchedule(runner, shared, { suite_id: suite.id });
    await service.sql(change, [runner.id]);
    await minute(NINE);
    expect(await read(schedule)).toMatchObject({
      is_active: false,
      user_id: runner.id,
      last_error: expect.stringMatching(/may not screen this agent/),
    });
    clock = NINE + MINUTE;
    const on = await user.call("PATCH", `${SCHEDULES}/${schedule.id}`, { is_active: true });
    expect(on.body).toMatchObject({
      user_id: user.id,
      is_active: true,
      next_run_at: iso(NINE + DAY),
      last_error: null,
    });
    expect(await redeliver(schedule), "what was refused before does not turn it off again").toBe(200);
    expect((await read(schedule)).is_active).toBe(true);
    await minute(NINE + DAY);
    expect(await started(shared)).toEqual([iso(NINE + DAY)]);
  });

  it("with its account is deleted, those of the workspaces it owned included", async () => {
    const leaver = await newUser(service, { plan: "team" });
    const team = await addTeam(service, leaver);
    await addSchedule(leaver, await addAgent(leaver, { team_id: team }), { suite_id: suite.id });
    const kept = await addAgent(leaver);
    await addSchedule(leaver, kept, { suite_id: suite.id });
    await addRun(leaver, kept, suite.tasks[0] ?? "");
    await service.settled();
    await service.sql("update runs set counted = true where agent_id = $1", [kept]);
    await leaver.call("POST", "/api/v1/users/me/deletion", { password: PASSWORD });
    clock = START + 15 * DAY;
    await service.app.scheduled(DAILY);
    expect(await service.sql("select name from agents where id = $1", [kept])).toEqual([{ name: "Deleted agent" }]);
    expect(await service.sql("select from screening_schedules")).toEqual([]);
  });
});

describe("a change while a schedule is due", () => {
  it.each<[string, object | undefined, Date | null | undefined]>([
    ["DELETE", undefined, undefined],
    ["PATCH", { is_active: false }, null],
    ["PATCH", { cron: "0 12 * * *" }, new Date(NINE + 3 * HOUR)],
  ])("(%s %o) and its trigger leave one of both outcomes, whole", async (method, body, next) => {
    for (const round of range(2)) {
      clock = START;
      const agent = await addAgent(user);
      const { id } = await addSchedule(user, agent, { suite_id: suite.id });
      clock = NINE;
      const path = `${SCHEDULES}/${id}`;
      const change = () => user.call(method, path, body);
      const trigger = () => service.app.scheduled(EVERY_MINUTE);
      const both = round === 0 ? [change(), trigger()] : [trigger(), change()];
      const [answer] = (await Promise.all(both)).filter((one) => one !== undefined);
      expect(answer?.status).toBe(method === "DELETE" ? 204 : 200);
      await service.settled();
      const [row] = await service.sql<{ next: Date | null }>(
        "select next_run_at as next from screening_schedules where id = $1",
        [id],
      );
      expect(row?.next).toEqual(next);
      const count = (await started(agent)).length;
      expect(count).toBeLessThanOrEqual(1);
      await minute(NINE + MINUTE);
      expect(await started(agent), "nothing follows").toHaveLength(count);
    }
  });
});
