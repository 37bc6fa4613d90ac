import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nextInstant } from "../../../shared/schedules/cron.ts";
import { type Caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, range, tally, type TestSuite } from "./support.ts";
import { addSchedule, addTeam, SCHEDULES, type Schedule, slowDown } from "./schedules-support.ts";

const NOW = "2026-11-21T09:30:00.000Z";
const SOME_TASK = "01938e7a-0000-7000-8000-00000000000";
const ROLES = ["owner", "admin", "editor", "runner", "member", "viewer"] as const;
const RUNNERS = ["owner", "admin", "editor", "runner"];

let service: TestService;
let suite: TestSuite;
let secret: TestSuite;
let user: User;
let agentId: string;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(NOW) } });
  suite = await addSuite(service, 2);
  secret = await addSuite(service, 1, { secret: true });
  user = await newUser(service, { plan: "enterprise" });
  agentId = await addAgent(user);
});

afterAll(() => service.stop());

const create = (by: Caller, fields: object = {}) =>
  by.call("POST", SCHEDULES, { agent_id: agentId, suite_id: suite.id, cron: "0 9 * * *", ...fields });

describe("a schedule", () => {
  it("is made with its defaults, read, listed, changed and deleted", async () => {
    const made = await create(user, { cron: " 0 9 * * MON-FRI ", timezone: "Europe/Berlin" });
    expect(made.status, made.text).toBe(201);
    const { id } = made.body;
    const path = `${SCHEDULES}/${id}`;
    expect(made.headers.get("location")).toBe(path);
    expect(made.body).toEqual({
      id,
      agent_id: agentId,
      agent_name: expect.stringMatching(/./),
      may_change: true,
      user_id: user.id,
      suite_id: suite.id,
      task_ids: null,
      repeats: 1,
      cron: "0 9 * * MON-FRI",
      timezone: "Europe/Berlin",
      is_active: true,
      waits_for_plan: false,
      next_run_at: "2026-11-23T08:00:00.000Z",
      last_run_at: null,
      last_screening_session_id: null,
      last_error: null,
      created_at: expect.any(String),
    });
    expect((await user.call("GET", path)).body).toEqual(made.body);
    const changes = { task_ids: suite.tasks.toReversed(), repeats: 10, timezone: "America/New_York" };
    const changed = await user.call("PATCH", path, changes);
    expect(changed.body).toEqual({
      ...made.body,
      ...changes,
      suite_id: null,
      next_run_at: "2026-11-23T14:00:00.000Z",
    });
    const list = await user.call("GET", `${SCHEDULES}?page_size=1`);
    expect(list.body).toMatchObject({ items: [changed.body], total: 1 });
    expect((await user.call("DELETE", path)).status).toBe(204);
    for (const method of ["GET", "DELETE", "PATCH"])
      expect((await user.call(method, path, method === "PATCH" ? {} : undefined)).status).toBe(404);
  });

  it("is off without a next time, and reckons it anew when it is turned on", async () => {
    const made = await create(user, { is_active: false });
    expect(made.body).toMatchObject({ is_active: false, next_run_at: null });
    const path = `${SCHEDULES}/${made.body.id}`;
    expect((await user.call("PATCH", path, { cron: "0 10 * * *" })).body.next_run_at).toBeNull();
    await service.sql("update screening_schedules set last_error = 'x' where id = $1", [made.body.id]);
    const on = await user.call("PATCH", path, { is_active: true });
    expect(on.body).toMatchObject({ is_active: true, next_run_at: "2026-11-21T10:00:00.000Z", last_error: null });
    expect((await user.call("PATCH", path, { is_active: false })).body.next_run_at).toBeNull();
  });

  it("keeps a time that is due when something else is changed", async () => {
    const { id } = await addSchedule(user, agentId, { suite_id: suite.id });
    const due = "2026-11-21T09:00:00.000Z";
    await service.sql("update screening_schedules set next_run_at = $1 where id = $2", [due, id]);
    const same = { repeats: 3, cron: "0 9 * * *", timezone: "UTC", is_active: true };
    expect((await user.call("PATCH", `${SCHEDULES}/${id}`, same)).body).toMatchObject({ repeats: 3, next_run_at: due });
  });

  it("takes changes of its time that meet one after the other", async () => {
    const { id } = await addSchedule(user, agentId, { suite_id: suite.id });
    for (const round of range(5)) {
      const [cron, timezone] = [`${round} 5 * * *`, round % 2 === 0 ? "Asia/Tokyo" : "America/Lima"];
      const answers = await Promise.all(
        [{ cron }, { timezone }, { is_active: true }].map((change) => user.call("PATCH", `${SCHEDULES}/${id}`, change)),
      );
      expect(tally(answers)).toEqual({ 200: 3 });
      const next_run_at = nextInstant(cron, timezone, new Date(NOW))?.toISOString();
      expect((await user.call("GET", `${SCHEDULES}/${id}`)).body).toMatchObject({ cron, timezone, next_run_at });
    }
  });

  it("is made once for one Idempotency-Key", async () => {
    const key = { "idempotency-key": randomUUID() };
    const body = { agent_id: agentId, suite_id: suite.id, cron: "0 3 * * *" };
    const [first, again] = [
      await user.call("POST", SCHEDULES, body, key),
      await user.call("POST", SCHEDULES, body, key),
    ];
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
  });
});

describe("a body", () => {
  let person: User;
  beforeAll(async () => {
    person = await newUser(service, { plan: "pro" });
  });

  it.each<[string, object, string, string]>([
    ["suite and tasks", { task_ids: [randomUUID()] }, "conflicting_parameters", "/suite_id"],
    ["neither suite nor tasks", { suite_id: undefined }, "validation_failed", "/suite_id"],
    [
      "a task twice",
      { suite_id: undefined, task_ids: ["a", "A"].map((last) => SOME_TASK + last) },
      "validation_failed",
      "/task_ids",
    ],
    ["no tasks", { suite_id: undefined, task_ids: [] }, "validation_failed", "/task_ids"],
    ["no repeats", { repeats: 0 }, "validation_failed", "/repeats"],
    ["too many repeats", { repeats: 11 }, "validation_failed", "/repeats"],
    ["an unknown field", { every: "day" }, "unrecognized_field", "/every"],
    ["an unknown zone", { timezone: "Europe/Atlantis" }, "validation_failed", "/timezone"],
    ["an offset as zone", { timezone: "+05:30" }, "validation_failed", "/timezone"],
    ["a very long zone", { timezone: "A".repeat(100_000) }, "validation_failed", "/timezone"],
    ["every minute", { cron: "* * * * *" }, "validation_failed", "/cron"],
    ["no such minute", { cron: "61 * * * *" }, "validation_failed", "/cron"],
    ["no such day", { cron: "0 0 30 2 *" }, "validation_failed", "/cron"],
    ["seconds", { cron: "0 0 9 * * *" }, "validation_failed", "/cron"],
    ["a date", { cron: "2027-01-01T00:00:00" }, "validation_failed", "/cron"],
    ["digits of another script", { cron: "０ ９ * * *" }, "validation_failed", "/cron"],
    ["a very long list", { cron: `${"0,".repeat(100_000)}0 9 * * *` }, "validation_failed", "/cron"],
    ["no expression", { cron: "" }, "validation_failed", "/cron"],
    ["no text", { cron: 9 }, "validation_failed", "/cron"],
  ])("with %s is refused where it is wrong", async (_what, fields, code, pointer) => {
    const { status, body } = await create(person, fields);
    expect([status, body.code]).toEqual([422, code]);
    expect(body.errors).toEqual(expect.arrayContaining([expect.objectContaining({ pointer })]));
    expect(body.detail.length).toBeLessThan(1000);
  });

  it("can name only what could be run now", async () => {
    const empty = await addSuite(service, 0);
    const retired = await addSuite(service, 1, { columns: { is_active: false } });
    const idle = await addAgent(user);
    await user.call("DELETE", `/api/v1/agents/${idle}`);
    const refusals: [fields: object, status: number, code: string][] = [
      [{ suite_id: randomUUID() }, 404, "not_found"],
      [{ suite_id: secret.id }, 404, "not_found"],
      [{ suite_id: empty.id }, 422, "suite_unavailable"],
      [{ suite_id: undefined, task_ids: [suite.tasks[0], randomUUID()] }, 404, "not_found"],
      [{ suite_id: undefined, task_ids: secret.tasks }, 404, "not_found"],
      [{ suite_id: undefined, task_ids: [suite.tasks[0], ...retired.tasks] }, 422, "task_unavailable"],
    ];
    const { id } = await addSchedule(user, agentId, { suite_id: suite.id });
    for (const [fields, status, code] of refusals) {
      const { suite_id, task_ids } = fields as Record<string, unknown>;
      const answers = [
        await create(user, fields),
        await user.call("PATCH", `${SCHEDULES}/${id}`, task_ids === undefined ? { suite_id } : { task_ids }),
      ];
      for (const { status: given, body } of answers) expect([given, body.code]).toEqual([status, code]);
    }
    expect((await user.call("GET", `${SCHEDULES}/${id}`)).body).toMatchObject({ suite_id: suite.id, task_ids: null });
    const answers = [await create(user, { agent_id: idle }), await create(user, { agent_id: randomUUID() })];
    expect(answers.map(({ body }) => body.code)).toEqual(["agent_inactive", "not_found"]);
  });

  it("has no more runs than a batch has, since it would start nothing", async () => {
    const large = await addSuite(service, 101);
    const full = await addSchedule(user, agentId, { suite_id: large.id, repeats: 9 });
    const other = await addSchedule(user, agentId, { suite_id: suite.id, repeats: 10 });
    const change = (id: string, fields: object) => user.call("PATCH", `${SCHEDULES}/${id}`, fields);
    const refused = [
      await create(user, { suite_id: large.id, repeats: 10 }),
      await change(full.id, { repeats: 10 }),
      await change(other.id, { suite_id: large.id }),
    ];
    for (const { status, body } of refused) expect([status, body.code]).toEqual([422, "suite_unavailable"]);
    const taken = [
      await change(other.id, { suite_id: large.id, repeats: 9 }),
      await change(full.id, { repeats: 10, task_ids: large.tasks.slice(1) }),
    ];
    expect(taken.map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe("the rights in a workspace", () => {
  let people: Record<(typeof ROLES)[number], User>;
  let shared: string;
  let theirs: Schedule;

  beforeAll(async () => {
    const users = await Promise.all(ROLES.map(() => newUser(service, { plan: "team" })));
    people = Object.fromEntries(ROLES.map((role, index) => [role, users[index]])) as typeof people;
    const teamId = await addTeam(service, people.owner, people);
    shared = await addAgent(people.editor, { team_id: teamId });
    theirs = await addSchedule(people.runner, shared, { suite_id: suite.id });
  });

  it.each(ROLES)("let a %s see all schedules, and make, change and delete them as the role may run", async (role) => {
    const by = people[role];
    expect((await by.call("GET", `${SCHEDULES}/${theirs.id}`)).status).toBe(200);
    const { items } = (await by.call<{ items: Schedule[] }>("GET", SCHEDULES)).body;
    expect(items.map(({ id }) => id)).toContain(theirs.id);
    const { id } = await addSchedule(people.runner, shared, { suite_id: suite.id });
    const answers = [
      await create(by, { agent_id: shared }),
      await by.call("PATCH", `${SCHEDULES}/${id}`, { repeats: 2 }),
      await by.call("DELETE", `${SCHEDULES}/${id}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual(RUNNERS.includes(role) ? [201, 200, 204] : [403, 403, 403]);
    const left = await people.owner.call("GET", `${SCHEDULES}/${id}`);
    expect(left).toMatchObject(RUNNERS.includes(role) ? { status: 404 } : { status: 200, body: { repeats: 1 } });
  });

  it("hide them from everybody else, though the agent is public", async () => {
    const stranger = await newUser(service, { plan: "pro" });
    const path = `${SCHEDULES}/${theirs.id}`;
    const answers = [
      await stranger.call("GET", path),
      await stranger.call("PATCH", path, { repeats: 2 }),
      await stranger.call("DELETE", path),
      await create(stranger, { agent_id: shared }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 403]);
    expect((await stranger.call("GET", SCHEDULES)).body.items).toEqual([]);
  });

  it("say nothing of a private agent", async () => {
    const hidden = await addAgent(people.editor, { is_public: false });
    const answers = [hidden, randomUUID()].map((agent_id) =>
      create(user, { agent_id }).then(({ status, body }) => [status, body.code, body.detail]),
    );
    const [known, unknown] = await Promise.all(answers);
    expect(known).toEqual(unknown);
    expect(known?.[0]).toBe(404);
  });
});

describe("the plan's limit", () => {
  beforeAll(() => slowDown(service));

  it("is none for a free account, whose attempt leaves nothing", async () => {
    const free = await newUser(service);
    const { status, body } = await create(free, { agent_id: await addAgent(free) });
    expect([status, body]).toMatchObject([402, { code: "quota_exceeded", limit: 0, used: 0, resets_at: null }]);
    expect((await free.call("GET", SCHEDULES)).body.total).toBe(0);
  });

  it("is exact for schedules that are made at the same time, and for those turned on again", async () => {
    const pro = await newUser(service, { plan: "pro" });
    const own = { agent_id: await addAgent(pro) };
    const answers = await Promise.all(range(8).map(() => create(pro, own)));
    expect(tally(answers)).toEqual({ 201: 5, 402: 3 });
    const { body } = await create(pro, own);
    expect(body).toMatchObject({ limit: 5, used: 5 });
    const { items } = (await pro.call<{ items: Schedule[] }>("GET", SCHEDULES)).body;
    const set = (id: string | undefined, active: boolean) =>
      pro.call("PATCH", `${SCHEDULES}/${id}`, { is_active: active });
    for (const { id } of items.slice(0, 2)) expect((await set(id, false)).status).toBe(200);
    expect((await create(pro, own)).status).toBe(201);
    const again = await Promise.all(items.slice(0, 2).map(({ id }) => set(id, true)));
    expect(tally(again)).toEqual({ 200: 1, 402: 1 });
    expect((await set(items[4]?.id, true)).status, "it is on").toBe(200);
  });

  it("counts no schedule of an agent that was deleted: it screens nothing any more", async () => {
    const pro = await newUser(service, { plan: "pro" });
    const [gone, fresh] = [await addAgent(pro), await addAgent(pro)];
    const answers = await Promise.all(range(5).map(() => create(pro, { agent_id: gone })));
    expect(tally(answers)).toEqual({ 201: 5 });
    expect((await create(pro, { agent_id: fresh })).status).toBe(402);
    expect((await pro.call("DELETE", `/api/v1/agents/${gone}`)).status).toBe(204);
    const more = await Promise.all(range(6).map(() => create(pro, { agent_id: fresh })));
    expect(tally(more)).toEqual({ 201: 5, 402: 1 });
  });

  it("is one for an account and one for each workspace, by the plan of its owner", async () => {
    const [owner, runner] = [await newUser(service, { plan: "team" }), await newUser(service)];
    const teams = [await addTeam(service, owner, { runner }), await addTeam(service, owner)];
    const places = [await addAgent(owner, { team_id: teams[0] }), await addAgent(owner, { team_id: teams[1] })];
    const personal = await addAgent(owner);
    const makers: [User, string | undefined][] = [
      [runner, places[0]],
      [owner, places[1]],
      [owner, personal],
    ];
    for (const [by, agent] of makers) {
      await service.sql(
        `insert into screening_schedules (user_id, agent_id, suite_id, repeats, cron, timezone, is_active, next_run_at)
         select $1, $2, $3, 1, '0 9 * * *', 'UTC', true, now() + interval '1 day' from generate_series(1, 20)`,
        [by.id, agent, suite.id],
      );
      const answers = await Promise.all(range(6).map(() => create(by, { agent_id: agent })));
      expect(tally(answers)).toEqual({ 201: 5, 402: 1 });
    }
  });
});
