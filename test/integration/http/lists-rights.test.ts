import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { range } from "../runs/support.ts";

const USERS = 4;
const TEAMS = 3;
const AGENTS = 24;
const RUNS = 700;

let service: TestService;
let users: User[];
let teams: string[];
let agents: string[];
let tasks: string[];

/** SQL: the id of any row of a table, drawn anew for each row. */
const oneOf = (table: string) =>
  `(select array_agg(id order by id) from ${table})[1 + floor(random() * (select count(*) from ${table}))::integer]`;
const ids = (rows: { id: string }[]) => rows.map(({ id }) => id);

beforeAll(async () => {
  service = await startService();
  users = [];
  while (users.length < USERS) users.push(await newUser(service));
  tasks = ids(await service.sql("select id from tasks order by id limit 3"));
  // One session draws all of it, so that the world is the same each time.
  await service.sql(`select setseed(0.42);
    insert into teams (name, owner_id) select n, ${oneOf("users")} from generate_series(1, ${TEAMS}) n;
    insert into team_members (team_id, user_id, role)
      select t.id, u.id, case when t.owner_id = u.id then 'owner'
        else ('{admin,editor,runner,member,viewer}'::text[])[1 + floor(random() * 5)::integer] end
      from (select * from teams order by id) t, (select * from users order by id) u
      where t.owner_id = u.id or random() < 0.3;
    insert into agents (user_id, team_id, name, connection_mode, is_public, is_active, created_at)
      select ${oneOf("users")}, case when random() < 0.5 then ${oneOf("teams")} end, 'Agent ' || n, 'mock',
        random() < 0.5, random() < 0.7, now() - n % 7 * interval '1 hour' from generate_series(1, ${AGENTS}) n;
    -- Who asked, for which workspace and how privately does not follow from whose the agent is now.
    insert into runs (agent_id, task_id, user_id, status, trigger, is_private, passed, latency_ms, evidence_cost_usd,
        evidence_cost_partial, failure_code, team_id, scope)
      select r.*, case when team_id is null then 'personal' else 'team' end from (
        select ${oneOf("agents")}, ('{${tasks.join(",")}}'::uuid[])[1 + n % ${tasks.length}],
          case when random() < 0.9 then ${oneOf("users")} end,
          ('{queued,running,completed,failed,cancelled}'::text[])[1 + floor(random() * 5)::integer], 'manual',
          random() < 0.4, random() < 0.5, (random() * 9000)::integer, random()::numeric(18, 6), random() < 0.3,
          case when random() < 0.2 then 'service_error' end, case when random() < 0.5 then ${oneOf("teams")} end as team_id
        from generate_series(1, ${RUNS}) n) r;
    update runs set passed = null where status in ('queued', 'running', 'cancelled') or random() < 0.1;
    update runs set status = 'completed', passed = random() < 0.5, latency_ms = 7 where status = 'running' and random() < 0.5;
    update runs set failure_code = 'service_error' where status = 'failed' and random() < 0.1;
    insert into screening_sessions (agent_id, user_id, trigger, task_plan, repeats, is_private, suite_id, created_at)
      select ${oneOf("agents")}, case when random() < 0.9 then ${oneOf("users")} end, 'manual', '[]', 1, random() < 0.5,
        case when random() < 0.5 then ${oneOf("suites")} end, now() - n % 7 * interval '1 hour' from generate_series(1, 200) n;
    insert into webhooks (user_id, team_id, url, event_types)
      select ${oneOf("users")}, case when random() < 0.5 then ${oneOf("teams")} end, 'https://rights.example/', '{run.completed}'
      from generate_series(1, 40) n;
    insert into screening_schedules (user_id, agent_id, repeats, cron, timezone, is_active)
      select ${oneOf("users")}, ${oneOf("agents")}, 1, '0 0 1 1 *', 'UTC', false from generate_series(1, 40) n;
    delete from runs where random() < 0.1`);
  teams = ids(await service.sql("select id from teams order by id"));
  agents = ids(await service.sql("select id from agents order by id"));
});

afterAll(() => service.stop());

/** All that a list shows: its ids in order, of as many pages as its total has. */
async function listed(who: Caller, path: string): Promise<string[]> {
  const found: string[] = [];
  for (let page = 1; ; page++) {
    const answer = await who.call("GET", `${path}page=${page}&page_size=100`);
    if (answer.status !== 200) return [String(answer.status)];
    found.push(...ids(answer.body.items));
    if (page * 100 >= answer.body.total) {
      expect([path, found.length]).toEqual([path, answer.body.total]);
      return found;
    }
  }
}

const member = (viewer: string, team: string) =>
  `exists (select from team_members m where m.team_id = ${team} and m.user_id = ${viewer})`;
/** SQL: whether the agent `a` is a viewer's, who may have no account (`null`), and whether the viewer sees it. */
const owns = (viewer: string) =>
  `coalesce(case when a.team_id is null then a.user_id = ${viewer} else ${member(viewer, "a.team_id")} end, false)`;
const sees = (viewer: string) => `((a.is_public and a.is_active) or ${owns(viewer)})`;
/** SQL: whether a viewer asked for the run `r` or session `s`, for themselves or a workspace that they are a member of. */
const asked = (row: string, viewer: string) => `coalesce(${row}.user_id = ${viewer}
  and (${row}.team_id is null or ${member(viewer, `${row}.team_id`)}), false)`;
const seesRun = (viewer: string) =>
  `((not r.is_private and ${sees(viewer)}) or ${asked("r", viewer)} or ${owns(viewer)})`;

/** Each caller with the id as SQL has it. */
function everybody(): { who: Caller; viewer: string; signedIn: boolean }[] {
  const accounts = users.map((who) => ({ who, viewer: `'${who.id}'::uuid`, signedIn: true }));
  return [{ who: caller(service), viewer: "null::uuid", signedIn: false }, ...accounts];
}

async function expectRuns(path: string, condition: (viewer: string) => string, found?: (viewer: string) => string) {
  for (const { who, viewer, signedIn } of everybody()) {
    if (!signedIn && /scope|team_id|mine=true/.test(path)) continue;
    const [is] = await service.sql<{ found: boolean }>(`select ${found?.(viewer) ?? "true"} as found`);
    const rows = await service.sql<{ id: string }>(
      `select r.id from runs r join agents a on a.id = r.agent_id where ${seesRun(viewer)} and ${condition(viewer)}
       order by r.id desc`,
    );
    expect([viewer, path, await listed(who, `/api/v1/runs?${path}&`)]).toEqual([
      viewer,
      path,
      is?.found === true ? ids(rows) : ["404"],
    ]);
  }
}

describe("a list of runs has every run that the caller may see, once, newest first", () => {
  const statuses = ["queued", "running", "completed", "failed", "cancelled"];
  it("without a filter, and with each status", async () => {
    await expectRuns("mine=false", () => "true");
    for (const status of statuses) await expectRuns(`status=${status}`, () => `r.status = '${status}'`);
  });

  it("of a task", async () => {
    for (const task of tasks) {
      await expectRuns(`task_id=${task}`, () => `r.task_id = '${task}'`);
      await expectRuns(`task_id=${task}&status=failed`, () => `r.task_id = '${task}' and r.status = 'failed'`);
    }
  });

  it("of an agent, where the caller sees the agent", async () => {
    for (const agent of agents) {
      const visible = (viewer: string) => `exists (select from agents a where a.id = '${agent}' and ${sees(viewer)})`;
      await expectRuns(`agent_id=${agent}`, () => `r.agent_id = '${agent}'`, visible);
    }
    const [agent] = agents;
    const visible = (viewer: string) => `exists (select from agents a where a.id = '${agent}' and ${sees(viewer)})`;
    const mine = (viewer: string) => `r.agent_id = '${agent}' and ${asked("r", viewer)}`;
    await expectRuns(`agent_id=${agent}&mine=true`, mine, visible);
  });

  it("that the caller asked for, or of the caller's personal scope", async () => {
    await expectRuns("mine=true", (viewer) => asked("r", viewer));
    await expectRuns("mine=true&status=queued", (viewer) => `${asked("r", viewer)} and r.status = 'queued'`);
    await expectRuns(
      "scope=personal",
      (viewer) => `r.scope = 'personal' and (r.user_id = ${viewer} or a.user_id = ${viewer})`,
    );
  });

  it("of a workspace, to its members", async () => {
    for (const team of teams) {
      await expectRuns(
        `team_id=${team}`,
        () => `r.scope = 'team' and r.team_id = '${team}'`,
        (viewer) => member(viewer, `'${team}'`),
      );
    }
  });
});

it("the caller's own runs are the same in the list and in the export, for an account and for a workspace's key", async () => {
  const same = async (who: Caller, viewer: string, condition: string) => {
    const rows = await service.sql<{ id: string }>(
      `select r.id from runs r join agents a on a.id = r.agent_id where ${condition} order by r.id desc`,
    );
    expect(rows.length).toBeGreaterThan(0);
    expect([viewer, await listed(who, "/api/v1/runs?mine=true&")]).toEqual([viewer, ids(rows)]);
    const { text } = await who.call("GET", "/api/v1/runs/export.jsonl");
    const lines = text.split("\n").slice(0, -1);
    expect([viewer, ids(lines.map((line) => JSON.parse(line)))]).toEqual([viewer, ids(rows)]);
  };
  await service.sql("update users set plan = 'team'");
  for (const { who, viewer } of everybody().slice(1)) await same(who, viewer, asked("r", viewer));
  for (const team of teams) {
    const [row] = await service.sql<{ owner_id: string }>("select owner_id from teams where id = $1", [team]);
    const owner = users.find(({ id }) => id === row?.owner_id);
    const made = await owner?.call("POST", `/api/v1/teams/${team}/api-keys`, { name: "Own runs", scope: "read" });
    const ofKey = `(a.team_id = '${team}' or (not r.is_private and a.is_public and a.is_active))`;
    await same(caller(service, { "x-api-key": made?.body.key }), team, `r.team_id = '${team}' and ${ofKey}`);
  }
  await service.sql("update users set plan = 'free'");
});

describe("a list of agents has the caller's own and shared ones, or the public ones, once, newest first", () => {
  it.each(["", "active_only=false&", "scope=personal&", "scope=personal&active_only=false&"])("%s", async (filter) => {
    for (const { who, viewer, signedIn } of everybody()) {
      if (!signedIn && filter.includes("scope")) continue;
      const active = signedIn && filter.includes("active_only") ? "true" : "a.is_active";
      const scope = filter.includes("scope") ? `a.team_id is null and a.user_id = ${viewer}` : owns(viewer);
      const rows = await service.sql<{ id: string }>(
        `select a.id from agents a where ${signedIn ? scope : "a.is_public"} and ${active}
         order by a.created_at desc, a.id desc`,
      );
      expect([viewer, await listed(who, `/api/v1/agents?${filter}`)]).toEqual([viewer, ids(rows)]);
    }
  });

  it("of a workspace, to its members; an account's own id is no workspace", async () => {
    for (const { who, viewer } of everybody().slice(1)) {
      for (const team of teams) {
        const [is] = await service.sql<{ found: boolean }>(`select ${member(viewer, `'${team}'`)} as found`);
        const rows = await service.sql<{ id: string }>(
          `select id from agents where team_id = '${team}' and is_active order by created_at desc, id desc`,
        );
        const found = await listed(who, `/api/v1/agents?team_id=${team}&`);
        expect([viewer, team, found]).toEqual([viewer, team, is?.found === true ? ids(rows) : ["404"]]);
      }
    }
    for (const user of users) {
      expect((await user.call("GET", `/api/v1/agents?team_id=${user.id}`)).status).toBe(404);
      expect((await user.call("GET", `/api/v1/runs?team_id=${user.id}`)).status).toBe(404);
    }
  });
});

it.each([
  ["subscriptions", "webhooks", "select * from webhooks"],
  [
    "schedules of agents",
    "screening-schedules",
    "select s.id, a.user_id, a.team_id from screening_schedules s join agents a on a.id = s.agent_id",
  ],
])("a list of %s has the caller's own and shared ones, once, newest first", async (_what, path, rows) => {
  for (const { who, viewer } of everybody().slice(1)) {
    const expected = await service.sql<{ id: string }>(
      `select a.id from (${rows}) a where ${owns(viewer)} order by a.id desc`,
    );
    expect([viewer, await listed(who, `/api/v1/${path}?`)]).toEqual([viewer, ids(expected)]);
  }
});

it("a list of an agent's sessions has those that the caller may see, newest first, where the caller sees the agent", async () => {
  const suites = ids(
    await service.sql("select distinct suite_id as id from screening_sessions where suite_id is not null"),
  );
  expect(suites.length).toBeGreaterThan(0);
  for (const { who, viewer } of everybody()) {
    for (const [n, agent] of agents.entries()) {
      const suite = suites[n % suites.length];
      for (const [query, condition] of [
        ["", "true"],
        [`suite_id=${suite}&`, `s.suite_id = '${suite}'`],
      ]) {
        const [is] = await service.sql<{ found: boolean }>(
          `select ${sees(viewer)} as found from agents a where a.id = '${agent}'`,
        );
        const rows = await service.sql<{ id: string }>(
          `select s.id from screening_sessions s join agents a on a.id = s.agent_id where a.id = '${agent}' and ${condition}
             and (not s.is_private or ${asked("s", viewer)} or ${owns(viewer)})
           order by s.created_at desc, s.id desc`,
        );
        const found = await listed(who, `/api/v1/agents/${agent}/screening-sessions?${query}`);
        expect([viewer, agent, query, found]).toEqual([viewer, agent, query, is?.found === true ? ids(rows) : ["404"]]);
      }
    }
  }
});

it("what a deletion would remove is what the account has, and the workspaces that it owns", async () => {
  for (const { who, viewer } of everybody().slice(1)) {
    const owned = `case when a.team_id is null then a.user_id = ${viewer}
      else exists (select from teams t where t.id = a.team_id and t.owner_id = ${viewer}) end`;
    const [expected] = await service.sql(`select (select count(*)::integer from agents a where ${owned}) as agents,
      (select count(*)::integer from runs r join agents a on a.id = r.agent_id where ${owned}) as runs,
      (select count(*)::integer from webhooks a where ${owned}) as webhook_subscriptions`);
    expect((await who.call("GET", "/api/v1/users/me/deletion")).body).toMatchObject(expected ?? {});
  }
});

it("an agent's record counts the runs that the caller may see, but those that failed by our fault", async () => {
  const finished = "r.status in ('completed', 'failed')";
  for (const { who, viewer } of everybody()) {
    for (const agent of agents) {
      const [expected] = await service.sql<{ found: boolean; record: object }>(`with visible as (
          select r.*, t.title from runs r join agents a on a.id = r.agent_id join tasks t on t.id = r.task_id
          where a.id = '${agent}' and ${sees(viewer)} and ${seesRun(viewer)} and r.failure_code is distinct from 'service_error'
        ), by_task as (
          select task_id, title, avg(passed::integer)::double precision as rate, count(*) as n
          from visible r where ${finished} group by 1, 2
        )
        select exists (select from agents a where a.id = '${agent}' and ${sees(viewer)}) as found, jsonb_build_object('simulated', false,
          'total_runs', (select count(*) from visible), 'successful_runs', (select count(*) from visible where passed),
          'failed_runs', (select count(*) from visible r where ${finished} and not passed),
          'avg_latency_ms', (select round(avg(latency_ms)) from visible where status = 'completed'),
          'avg_cost_usd', (select round(avg(evidence_cost_usd), 6) from visible
            where status not in ('queued', 'running') and not evidence_cost_partial),
          'best_task', (select jsonb_build_object('task_id', task_id, 'title', title, 'pass_rate', rate) from by_task
            where rate is not null order by rate desc, n desc, task_id limit 1),
          'worst_task', (select jsonb_build_object('task_id', task_id, 'title', title, 'pass_rate', rate) from by_task
            where rate is not null order by rate, n desc, task_id limit 1),
          'recent_runs', coalesce((select jsonb_agg(id order by id desc)
            from (select id from visible order by id desc limit 10) x), '[]')) as record`);
      const { status, body } = await who.call("GET", `/api/v1/agents/${agent}/stats`);
      const record = status === 200 ? { ...body, recent_runs: ids(body.recent_runs) } : status;
      expect([viewer, agent, record]).toEqual([viewer, agent, expected?.found === true ? expected.record : 404]);
    }
  }
});

it("pages follow each other without a gap, also where several scans find the same runs", async () => {
  for (const { who } of everybody()) {
    const whole = await listed(who, "/api/v1/runs?");
    const pieces: string[] = [];
    for (const page of range(Math.ceil(whole.length / 30))) {
      pieces.push(...ids((await who.call("GET", `/api/v1/runs?page=${page + 1}&page_size=30`)).body.items));
    }
    expect(pieces).toEqual(whole);
  }
});
