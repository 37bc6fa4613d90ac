import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Answer, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, range, tally, type TestSuite, unique } from "../runs/support.ts";
import { addTeam, elsewhere, TEAMS } from "./teams-support.ts";

const AGENTS = "/api/v1/agents";

let service: TestService;
let suite: TestSuite;
let people: User[];
/** Of the plan enterprise; the other two of the plan team. */
let owner: User;
let heir: User;
let member: User;

beforeAll(async () => {
  service = await startService();
  suite = await addSuite(service, 2);
  const plans = ["enterprise", "team", "team"] as const;
  people = await Promise.all(plans.map((plan) => newUser(service, { plan })));
});

beforeEach(async () => {
  // Workspaces of the tests before would count.
  await service.sql("delete from team_members");
  await service.sql("delete from allowances");
  [owner, heir, member] = elsewhere(people) as [User, User, User];
});

afterAll(() => service.stop());

const codeOf = ({ status, body }: Answer): unknown[] => [status, body?.["code"]];
const create = (by: User, fields: object = {}, headers = {}) =>
  by.call("POST", TEAMS, { name: unique("Team"), ...fields }, headers);
const transfer = (team: string, to: User, by: User = owner) =>
  by.call("POST", `${TEAMS}/${team}/transfer-ownership`, { user_id: to.id });
const owners = async (team: string): Promise<string[]> => {
  const rows = await service.sql<{ id: string }>(
    `select t.owner_id as id from teams t where t.id = $1 union all
     select user_id from team_members where team_id = $1 and role = 'owner'`,
    [team],
  );
  return rows.map(({ id }) => id);
};

describe("creating workspaces", () => {
  it.each([
    ["free", 0],
    ["pro", 0],
    ["team", 3],
  ])("is bounded by the plan %s: %i, whatever comes at once", async (plan, limit) => {
    await service.sql("update users set plan = $1 where id = $2", [plan, member.id]);
    const answers = await Promise.all(range(6).map(() => create(member)));
    await service.sql("update users set plan = 'team' where id = $1", [member.id]);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(limit);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(6 - limit);
    for (const { status, body } of refused) {
      expect([status, body]).toMatchObject([402, { code: "quota_exceeded", limit, used: limit, resets_at: null }]);
    }
  });

  it("has no bound for an enterprise, and gives an owner what it made", async () => {
    const made = await Promise.all(range(5).map(() => create(owner)));
    expect(tally(made)).toEqual({ 201: 5 });
    const { headers, body } = made[0] as Answer<{ id: string; name: string }>;
    expect(headers.get("location")).toBe(`${TEAMS}/${body.id}`);
    expect(body).toMatchObject({
      role: "owner",
      owner_id: owner.id,
      seats_used: 1,
      seats_limit: 5,
      monthly_run_count: 0,
      monthly_run_limit: 50_000,
    });
    expect((await owner.call("GET", `${TEAMS}/${body.id}`)).body).toEqual(body);
    const list = await owner.call("GET", `${TEAMS}?page_size=3`);
    const rest = await owner.call("GET", `${TEAMS}?page_size=3&page=2`);
    const items: { id: string; created_at: string }[] = [...list.body.items, ...rest.body.items];
    expect(list.body.total).toBe(5);
    expect(new Set(items.map(({ id }) => id))).toEqual(new Set(made.map((answer) => answer.body["id"])));
    const times = items.map(({ created_at: at }) => at);
    expect(times).toEqual(times.toSorted().toReversed());
    expect((await member.call("GET", TEAMS)).body).toMatchObject({ items: [], total: 0 });
  });

  it("makes one under an Idempotency-Key, however often it is sent", async () => {
    const key = { "idempotency-key": randomUUID() };
    const answers = [await create(owner, { name: "Once" }, key), await create(owner, { name: "Once" }, key)];
    expect(tally(answers)).toEqual({ 201: 2 });
    expect(answers[1]?.body).toEqual(answers[0]?.body);
    expect((await owner.call("GET", TEAMS)).body.total).toBe(1);
  });

  it.each([
    ["no name", {}, "validation_failed"],
    ["a blank one", { name: "  " }, "validation_failed"],
    ["one too long", { name: "n".repeat(121) }, "validation_failed"],
    ["one of two lines", { name: "a\nb" }, "validation_failed"],
    ["another owner", { name: "a", owner_id: randomUUID() }, "unrecognized_field"],
  ])("is 422 with %s", async (_what, body, code) => {
    expect(codeOf(await owner.call("POST", TEAMS, body))).toEqual([422, code]);
  });
});

describe("renaming", () => {
  it("changes the name alone, and nothing where none is given", async () => {
    const team = await addTeam(service, owner);
    const before = (await owner.call("GET", `${TEAMS}/${team}`)).body;
    const answer = await owner.call("PATCH", `${TEAMS}/${team}`, { name: " Renamed " });
    expect([answer.status, answer.body]).toEqual([200, { ...before, name: "Renamed" }]);
    expect((await owner.call("PATCH", `${TEAMS}/${team}`, {})).body).toEqual(answer.body);
  });
});

describe("handing over", () => {
  it("swaps the roles, and the new owner's plan decides from then on", async () => {
    const team = await addTeam(service, owner, { editor: heir });
    const agent = await addAgent(owner, { team_id: team });
    const [task = ""] = suite.tasks;
    await addRun(heir, agent, task);
    await service.sql("update allowances set used = 5000 where kind = 'team' and owner = $1", [team]);
    await addRun(heir, agent, task);
    const answer = await transfer(team, heir);
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { role: "admin", owner_id: heir.id, monthly_run_count: 5001, monthly_run_limit: 5000 },
    ]);
    expect((await heir.call("GET", `${TEAMS}/${team}`)).body.role).toBe("owner");
    const run = await owner.call("POST", "/api/v1/runs", { agent_id: agent, task_id: task });
    expect([...codeOf(run), run.body.limit, run.body.used]).toEqual([402, "quota_exceeded", 5000, 5001]);
    expect(codeOf(await transfer(team, owner))).toEqual([403, "forbidden"]);
    expect((await transfer(team, heir, heir)).status, "to oneself").toBe(200);
    expect(await owners(team)).toEqual([heir.id, heir.id]);
  });

  it("goes to members alone, whose plan has room", async () => {
    const team = await addTeam(service, owner);
    expect(codeOf(await transfer(team, heir))).toEqual([404, "not_found"]);
    const theirs = await Promise.all(range(3).map(() => addTeam(service, heir)));
    const offered = await addTeam(service, owner, { viewer: heir });
    const refused = await transfer(offered, heir);
    expect([...codeOf(refused), refused.body.limit, refused.body.used]).toEqual([402, "quota_exceeded", 3, 3]);
    expect(await owners(offered)).toEqual([owner.id, owner.id]);
    await heir.call("DELETE", `${TEAMS}/${theirs[0]}`);
    expect((await transfer(offered, heir)).status).toBe(200);
  });

  it("leaves exactly one owner, however many transfers come at once", async () => {
    for (const _round of range(4)) {
      const team = await addTeam(service, owner, { admin: heir, viewer: member });
      const answers = await Promise.all([transfer(team, heir), transfer(team, member)]);
      expect(tally(answers)).toEqual({ 200: 1, 403: 1 });
      const [one, other, ...more] = await owners(team);
      expect([one, more]).toEqual([other, []]);
      await service.sql("delete from team_members where team_id = $1", [team]);
    }
  });

  it("never gives an account more than its plan has, when it creates and is handed over at once", async () => {
    await Promise.all([addTeam(service, heir), addTeam(service, heir)]);
    const [one, other] = [
      await addTeam(service, owner, { admin: heir }),
      await addTeam(service, owner, { viewer: heir }),
    ];
    const answers = await Promise.all([create(heir), transfer(one, heir), transfer(other, heir), create(heir)]);
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(3);
  });
});

describe("deleting", () => {
  it("waits until no active agent is left, then nobody sees anything of it any more", async () => {
    const team = await addTeam(service, owner, { editor: member });
    const agent = await addAgent(member, { team_id: team, is_public: false });
    const run = await addRun(member, agent, suite.tasks[0] ?? "");
    await service.settled();
    await service.sql(
      `insert into webhooks (user_id, team_id, url, event_types) values ($1, $2, 'https://a.example', '{run.completed}')`,
      [member.id, team],
    );
    await service.sql(
      `insert into screening_schedules (user_id, agent_id, repeats, cron, timezone) values ($1, $2, 1, '0 0 * * *', 'UTC')`,
      [member.id, agent],
    );
    await service.sql(
      `insert into scorecards (user_id, team_id, name, correctness, latency, cost, tool_efficiency, robustness)
       values ($1, $2, 'S', 1, 0, 0, 0, 0)`,
      [member.id, team],
    );
    await owner.call("POST", `${TEAMS}/${team}/invitations`, { email: `${randomUUID()}@example.test`, role: "viewer" });
    const remove = () => owner.call("DELETE", `${TEAMS}/${team}`);
    expect(codeOf(await remove())).toEqual([409, "workspace_not_empty"]);
    await owner.call("DELETE", `${AGENTS}/${agent}`);
    expect((await remove()).status).toBe(204);
    for (const by of [owner, member]) {
      expect((await by.call("GET", TEAMS)).body.total).toBe(0);
      for (const path of ["", "/members", "/invitations", "/activity"])
        expect((await by.call("GET", `${TEAMS}/${team}${path}`)).status).toBe(404);
      expect((await by.call("GET", `${AGENTS}/${agent}`)).status).toBe(404);
    }
    expect((await remove()).status, "again").toBe(404);
    const [kept] = await service.sql("select team_id from runs where id = $1", [run]);
    expect(kept, "the run's own record is immutable").toEqual({ team_id: team });
    const left = await service.sql(
      `select 1 from webhooks where team_id = $1 union all select 1 from scorecards where team_id = $1 union all
       select 1 from team_invitations where team_id = $1 union all
       select 1 from screening_schedules s join agents a on a.id = s.agent_id where a.team_id = $1`,
      [team],
    );
    expect(left).toEqual([]);
    expect((await owner.call("GET", "/api/v1/users/me/deletion")).body.workspaces_owned).toBe(0);
  });

  it("ends the credentials of agents that were switched off before, which nobody could end any more", async () => {
    const [team, other] = [await addTeam(service, owner), await addTeam(service, owner)];
    const live = async (of: string) => {
      const connection = { endpoint: "http://127.0.0.1:9/run", auth_header: { name: "X-Key", value: "secret" } };
      const id = await addAgent(owner, { team_id: of, ...connection });
      const { headers } = (await owner.call("POST", `${AGENTS}/${id}/otlp-token`)).body;
      expect((await owner.call("PATCH", `${AGENTS}/${id}`, { is_active: false })).status).toBe(200);
      const telemetry = async () => {
        const answer = await caller(service, headers).call("POST", "/api/v1/otlp/v1/traces", { resourceSpans: [] });
        return answer.status;
      };
      const kept = async () => {
        const [row] = await service.sql("select auth_header is not null as header from agents where id = $1", [id]);
        return { ...row, telemetry: await telemetry() };
      };
      return kept;
    };
    const [gone, stays] = [await live(team), await live(other)];
    const before = { header: true, telemetry: 200 };
    expect([await gone(), await stays()]).toEqual([before, before]);
    expect((await owner.call("DELETE", `${TEAMS}/${team}`)).status).toBe(204);
    expect([await gone(), await stays()]).toEqual([{ header: false, telemetry: 401 }, before]);
  });

  it("gives no second allowance this month: one that paid for runs still counts", async () => {
    const teams = await Promise.all(range(3).map(() => addTeam(service, heir)));
    const agent = await addAgent(heir, { team_id: teams[0] });
    await addRun(heir, agent, suite.tasks[0] ?? "");
    // One that has not begun by then is cancelled, and paid back.
    await service.settled();
    await heir.call("DELETE", `${AGENTS}/${agent}`);
    expect((await heir.call("DELETE", `${TEAMS}/${teams[0]}`)).status).toBe(204);
    expect(codeOf(await create(heir))).toEqual([402, "quota_exceeded"]);
    expect((await heir.call("DELETE", `${TEAMS}/${teams[1]}`)).status, "no run was paid").toBe(204);
    expect((await create(heir)).status).toBe(201);
    await service.sql("update allowances set period = '2000-01' where owner = $1", [teams[0]]);
    expect((await create(heir)).status, "in another month").toBe(201);
  });

  it("leaves no agent in a workspace that is gone, when both come at once", async () => {
    for (const _round of range(4)) {
      const team = await addTeam(service, owner, { editor: member });
      const [removed, made] = await Promise.all([
        owner.call("DELETE", `${TEAMS}/${team}`),
        member.call("POST", AGENTS, { name: unique("A"), team_id: team }),
      ]);
      expect([
        [204, 404],
        [409, 201],
      ]).toContainEqual([removed.status, made.status]);
    }
  });
});

describe("the activity of a workspace", () => {
  it("tells who did what, newest first, page by page, and nothing of other scopes", async () => {
    const team = await addTeam(service, owner, { runner: member });
    const agent = await addAgent(owner, { team_id: team, is_public: true, allow_trial: true });
    const foreign = await addAgent(member, { name: unique("Personal") });
    const [task = ""] = suite.tasks;
    await addRun(heir, agent, task);
    await addRun(member, foreign, task);
    const run = await addRun(member, agent, task, { private: true });
    const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id });
    await service.settled();
    const { status, body } = await member.call("GET", `${TEAMS}/${team}/activity`);
    const none = { agent_id: null, run_id: null, screening_session_id: null, status: null };
    const items = body.items.map(({ at: _at, ...item }: { at: string }) => item);
    expect([status, body.total]).toEqual([200, 5]);
    expect(items.slice(0, 3)).toEqual([
      {
        ...none,
        kind: "screening_session",
        user_id: owner.id,
        agent_id: agent,
        screening_session_id: batch.body[0].screening_session_id,
        status: "completed",
      },
      { ...none, kind: "run", user_id: member.id, agent_id: agent, run_id: run, status: "completed" },
      { ...none, kind: "agent_created", user_id: owner.id, agent_id: agent },
    ]);
    expect(items.slice(3).map(({ kind, user_id: id }: { kind: string; user_id: string }) => [kind, id])).toEqual([
      ["member_joined", member.id],
      ["member_joined", owner.id],
    ]);
    const times = body.items.map(({ at }: { at: string }) => at);
    expect(times).toEqual(times.toSorted().toReversed());
    const paged = await Promise.all(
      range(3).map((page) => member.call("GET", `${TEAMS}/${team}/activity?page_size=2&page=${page + 1}`)),
    );
    expect(paged.flatMap((answer) => answer.body.items)).toEqual(body.items);
  });

  it("stands on its agents for members alone: runs and who asked, of the last 30 days", async () => {
    const team = await addTeam(service, owner, { runner: member, viewer: heir });
    const agent = await addAgent(owner, { team_id: team, allow_trial: true });
    const personal = await addAgent(owner);
    const [task = ""] = suite.tasks;
    const rollup = async (id: string, by: User) => (await by.call("GET", `${AGENTS}/${id}`)).body.workspace_activity;
    expect(await rollup(agent, heir)).toEqual({ runs_30d: 0, last_run_at: null, active_members_30d: 0 });
    const old = `insert into runs (id, agent_id, task_id, trigger, user_id, scope, team_id, created_at)
      select uuidv7(-d), $1, $2, 'manual', $3, 'team', $4, now() - d from (select $5::interval as d)`;
    await service.sql(old, [agent, task, heir.id, team, "31 days"]);
    const before = await rollup(agent, heir);
    expect(before).toMatchObject({ runs_30d: 0, active_members_30d: 0 });
    expect(Math.round((Date.now() - Date.parse(before.last_run_at)) / 86_400_000)).toBe(31);
    await service.sql(old, [agent, task, heir.id, team, "29 days"]);
    await addRun(member, agent, task);
    const last = await addRun(member, agent, task);
    await addRun(owner, personal, task);
    const newest = (await member.call("GET", `/api/v1/runs/${last}`)).body.created_at;
    expect(await rollup(agent, member)).toEqual({ runs_30d: 3, last_run_at: newest, active_members_30d: 2 });
    const listed = await member.call("GET", `${AGENTS}?team_id=${team}`);
    expect(listed.body.items[0].workspace_activity.runs_30d).toBe(3);
    expect(await rollup(personal, owner)).toBeNull();
    const stranger = await caller(service).call("GET", `${AGENTS}/${agent}`);
    expect([stranger.status, Object.keys(stranger.body)]).toEqual([
      200,
      expect.not.arrayContaining(["workspace_activity"]),
    ]);
    await service.sql("delete from team_members where user_id = $1 and team_id = $2", [heir.id, team]);
    expect((await rollup(agent, member)).active_members_30d, "who left is no member").toBe(1);
  });
});

describe("what a workspace has", () => {
  it("is in the lists of its members by team_id, and 404 there for others", async () => {
    const team = await addTeam(service, owner, { viewer: member });
    const agent = await addAgent(owner, { team_id: team, is_public: false });
    const run = await addRun(owner, agent, suite.tasks[0] ?? "");
    for (const [path, id] of [
      [AGENTS, agent],
      ["/api/v1/runs", run],
    ]) {
      const { body } = await member.call("GET", `${path}?team_id=${team}`);
      expect(body.items.map((item: { id: string }) => item.id)).toEqual([id]);
      expect((await heir.call("GET", `${path}?team_id=${team}`)).status).toBe(404);
    }
  });
});
