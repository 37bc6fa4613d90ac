import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COUNTED } from "../../../shared/db/listing.ts";
import { LOOKED_THROUGH, SCOUTED } from "../../../shared/db/names.ts";
import { PAGE } from "../../../shared/db/rows.ts";
import { allReads } from "../../bench/growth.ts";
import { fillRecords } from "../../bench/records.ts";
import { fillWorld, growingReads, NO_TASK, RARE_NAME, type Viewers } from "../../bench/world.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import {
  entered,
  fetched,
  looked,
  planOf,
  type Recorder,
  roomFor,
  scanned,
  type Statement,
  startRecorder,
} from "./plans-support.ts";

/** Enough that no planner reads a whole table for a page. */
const SIZE = 30_000;

/** What has so many rows in this test. */
const FILLED = [
  "agents",
  "runs",
  "board_entries",
  "screening_sessions",
  "screening_schedules",
  "webhooks",
  "webhook_deliveries",
  "listings",
];

/** For so many rows as are counted at most, of each of three scans, or found by a name. */
const ROOM = 3 * (COUNTED.byIndex + 1) + LOOKED_THROUGH;

const IDS = { agent: randomUUID(), team: randomUUID(), webhook: randomUUID() };

let service: TestService;
let recorder: Recorder;
let owner: User;
/** Has hardly anything, and its only agent. */
let newcomer: User;
let little: string;
let viewers: Viewers;
let task = NO_TASK;

beforeAll(async () => {
  recorder = await startRecorder();
  service = await startService({ settings: { NEON_LOCAL_PROXY: recorder.url } });
  owner = await newUser(service, { plan: "enterprise" });
  const { id: other } = await newUser(service);
  viewers = { owner: owner.id, other, ...IDS };
  await fillWorld((text) => service.sql(text), viewers, SIZE);
  const [row] = await service.sql<{ id: string; suite_id: string }>(
    "select id, suite_id from tasks where not is_secret order by id limit 1",
  );
  task = row ?? NO_TASK;
  newcomer = await newUser(service);
  const [added] = await service.sql<{ agent_id: string }>(
    `with a as (insert into agents (user_id, name, connection_mode) values ($1, 'Little', 'mock') returning id)
     insert into runs (agent_id, task_id, user_id, status, trigger, scope)
     select a.id, $2, $1, 'completed', 'manual', 'personal' from a, generate_series(1, 3) returning agent_id`,
    [newcomer.id, task.id],
  );
  little = added?.agent_id ?? "";
  // The isolate learns of ended sessions first.
  await Promise.all([owner, newcomer].map((user) => user.call("GET", "/api/v1/auth/me")));
  await service.settled();
}, 120_000);

afterAll(async () => {
  await service.stop();
  await recorder.close();
});

/** What is counted of the list at most, and the rows up to the end of the page. */
function needed(path: string, isCapped: boolean, total: number): number {
  const { searchParams } = new URL(path, "http://127.0.0.1");
  const rows = (isCapped ? total + 1 : total) + Number(searchParams.get("page") ?? 1) * 20;
  // Where an index alone does not tell, the agent of each row is looked at too.
  // Facets that the list leaves open are looked at one by one, for a page each: the ten domains.
  const facets = ["status", "passed", "failure_code", "trigger"].some((name) => searchParams.has(name)) ? 10 * 20 : 0;
  // A name is looked for in the list itself first, each row with what it is of; and then nowhere, or by an index.
  const q = searchParams.get("q");
  const stretch = q?.includes(RARE_NAME) === true ? SCOUTED : LOOKED_THROUGH;
  return (rows > COUNTED.byIndex ? 1.2 : 3) * (rows + facets) + (q === null ? 0 : 5 * stretch) + 500;
}

const NONE: Statement = { query: "", params: [] };

async function expectNoMoreThanNeeded(who: Caller, path: string): Promise<void> {
  recorder.statements.length = 0;
  const { status, text, body } = await who.call("GET", path);
  expect(status, text).toBe(200);
  const [statement, ...others] = recorder.statements;
  expect(others).toEqual([]);
  const plan = await planOf(service, statement ?? NONE);
  expect(scanned(plan).filter((table) => FILLED.includes(table))).toEqual([]);
  const most = needed(path, body.total_is_capped === true, body.total ?? 0);
  expect(looked(plan, FILLED)).toBeLessThanOrEqual(most);
  // A table of hashes for millions of rows takes longer to be made and given back than all of the page.
  expect(roomFor(plan)).toBeLessThanOrEqual(Math.max(most, ROOM));
}

const names = Object.keys(growingReads({ owner: "", other: "", ...IDS }, NO_TASK, SIZE));

describe("no filled table is read from its beginning, nor more of it than a page and its total need,", () => {
  it.each(names)("for %s", async (name) => {
    const read = growingReads({ owner: owner.id, other: "", ...IDS }, task, SIZE)[name];
    await expectNoMoreThanNeeded(read?.by === "owner" ? owner : caller(service), read?.path ?? "");
  });

  it.each([
    "agents",
    "agents?active_only=false",
    "runs",
    "runs?mine=true",
    "runs?mine=true&status=failed",
    "runs?status=failed&domain=math",
    "runs?mine=true&passed=true&trigger=api",
    "runs?scope=personal",
    "runs?scope=personal&passed=false",
    "runs?agent_id=AGENT",
    "runs?agent_id=AGENT&mine=true",
    "agents/OTHER/screening-sessions",
  ])("for %s by who has one agent and three runs", async (path) => {
    await expectNoMoreThanNeeded(newcomer, `/api/v1/${path.replace("AGENT", little).replace("OTHER", IDS.agent)}`);
  });
});

describe("what a workspace's key has for its own is found by the workspace,", () => {
  let key: Caller;
  beforeAll(async () => {
    const made = await owner.call("POST", `/api/v1/teams/${IDS.team}/api-keys`, { name: "Plans", scope: "read" });
    key = caller(service, { "x-api-key": made.body.key });
    await key.call("GET", "/api/v1/teams");
    await service.settled();
  });

  it.each(["", "&page=50", "&status=failed", "&passed=true&domain=coding", "&agent_id=AGENT"])(
    "in lists%s",
    async (narrowed) => {
      const [row] = await service.sql<{ id: string }>("select id from agents where team_id = $1 limit 1", [IDS.team]);
      await expectNoMoreThanNeeded(key, `/api/v1/runs?mine=true${narrowed.replace("AGENT", row?.id ?? "")}`);
    },
  );

  const runMore = async (count: number) => {
    await service.sql(
      `insert into runs (agent_id, task_id, user_id, status, trigger, scope, team_id)
       select a.id, $2, $3, 'completed', 'api', 'team', $1
       from (select id from agents where team_id = $1 limit 1) a, generate_series(1, $4)`,
      [IDS.team, task.id, owner.id, count],
    );
    await service.sql("analyze runs");
  };
  const forgetMore = async () => {
    await service.sql("delete from runs where team_id = $1 and trigger = 'api'", [IDS.team]);
    await service.sql("vacuum analyze runs");
  };

  it("in lists of more runs than the planner takes it to have", async () => {
    await runMore(2000);
    await expectNoMoreThanNeeded(owner, `/api/v1/runs?team_id=${IDS.team}`);
    await forgetMore();
  });

  it("and in the export, page by page", async () => {
    // So many that a page is followed by others, and that there are more than the two that it looks at.
    await runMore(3 * PAGE.rows);
    recorder.statements.length = 0;
    const { text } = await key.call("GET", "/api/v1/runs/export.csv");
    const [own] = await service.sql<{ runs: number }>("select count(*)::integer as runs from runs where team_id = $1", [
      IDS.team,
    ]);
    expect(text.split("\r\n")).toHaveLength((own?.runs ?? 0) + 2);
    const statements = recorder.statements.filter(({ query }) => query.includes("'ahead'"));
    expect(statements).toHaveLength(4);
    for (const statement of statements) {
      const plan = await planOf(service, statement);
      expect(scanned(plan)).not.toContain("runs");
      // For a page, and for where the one after it ends.
      expect(looked(plan, ["runs"])).toBeLessThanOrEqual(2 * PAGE.rows);
    }
    await forgetMore();
  });
});

describe("a page so far that it would be found by all that stands before it is refused, and nothing is read for it,", () => {
  it.each([
    ["owner", "runs"],
    ["owner", "runs?mine=true"],
    ["anybody", "runs"],
    ["anybody", "agents"],
  ])("to %s for %s", async (who, list) => {
    const by = who === "owner" ? owner : caller(service);
    const path = `/api/v1/${list}${list.includes("?") ? "&" : "?"}`;
    const near = await by.call("GET", `${path}page=1000&page_size=100`);
    expect([near.status, near.body.total_is_capped], near.text.slice(0, 200)).toEqual([200, true]);
    recorder.statements.length = 0;
    const { status, body } = await by.call("GET", `${path}page=1001&page_size=100`);
    expect([status, body.code, body.errors]).toMatchObject([422, "validation_failed", [{ pointer: "/page" }]]);
    const plan = await planOf(service, recorder.statements[0] ?? NONE);
    expect(looked(plan, FILLED)).toBeLessThanOrEqual(needed(`/api/v1/${list}`, true, near.body.total));
  });

  it("but is empty where the list is not so long", async () => {
    const { status, body } = await newcomer.call("GET", "/api/v1/runs?mine=true&page=1001&page_size=100");
    expect([status, body.items, body.total]).toEqual([200, [], 3]);
  });
});

it("says so where a list is not counted to its end, and goes on after what was counted", async () => {
  const last = await caller(service).call("GET", "/api/v1/runs?page=50");
  expect(last.body).toMatchObject({ total: 1000, total_is_capped: true, page: 50 });
  expect(last.body.items).toHaveLength(20);
  const link = last.headers.get("link") ?? "";
  expect([link.includes('rel="next"'), link.includes('rel="last"'), link.includes("page=49")]).toEqual([
    true,
    false,
    true,
  ]);
  const next = await caller(service).call("GET", "/api/v1/runs?page=51");
  expect(next.body.items[0].id < last.body.items.at(-1).id).toBe(true);
  const counted = await owner.call("GET", `/api/v1/runs?mine=true&status=queued`);
  expect(counted.body).toEqual({ items: [], total: 0, page: 1, page_size: 20 });
  expect(counted.headers.get("link")).toContain('rel="last"');
  const all = await owner.call("GET", `/api/v1/agents`);
  expect([all.body.total, all.body.total_is_capped]).toEqual([10, undefined]);
});

it("gives the pages of the board from either end as the whole board has them", async () => {
  const rows = await service.sql<{ agent_id: string }>(`select agent_id from board_entries
    where domain = 'all' and period = 'all' and listed order by tier, composite_score desc, runs desc, agent_id`);
  const size = 70;
  const last = Math.ceil(rows.length / size);
  expect(rows.length % size).not.toBe(0);
  for (const page of [1, 2, Math.floor(last / 2), Math.ceil(last / 2) + 1, last - 1, last, last + 1, 2 * last]) {
    const { body } = await owner.call("GET", `/api/v1/leaderboard?page=${page}&page_size=${size}`);
    const shown = body.items.map(({ agent_id, rank }: { agent_id: string; rank: number }) => [agent_id, rank]);
    const from = (page - 1) * size;
    expect([page, shown]).toEqual([
      page,
      rows.slice(from, from + size).map(({ agent_id }, index) => [agent_id, from + index + 1]),
    ]);
    expect(body.total).toBe(rows.length);
  }
});

it("looks once at what moved on a board, however many rows a page has", async () => {
  const moves = 50_000;
  const paths = ["leaderboard?page_size=100", "leaderboard?page_size=100&verified_only=true", "agents?page_size=100"];
  // Half of them take back the other half.
  await service.sql(`insert into board_moves (domain, period, score, low, high, listed, verified)
    select 'all', 'all', n % 10000, n % 9000, 1000 + n % 9000, sign, sign
    from generate_series(1, ${moves / 2}) n, (values (1), (-1)) s (sign)`);
  for (const path of paths) {
    recorder.statements.length = 0;
    const { body, text } = await caller(service).call("GET", `/api/v1/${path}&page=2`);
    expect(body.items, text).toHaveLength(100);
    const [statement] = recorder.statements;
    expect([path, await fetched(service, statement ?? NONE, "board_moves")]).toEqual([path, moves]);
  }
});

describe("what accounts have beside lists of runs is found by its owner, whatever others have:", () => {
  beforeAll(() => fillRecords((text) => service.sql(text), viewers, SIZE));

  it.each([
    "own keys",
    "own sales",
    "scorecards",
    "what a deletion would remove",
    "an agent's readiness",
    "members of a workspace",
    "invitations of a workspace",
    "keys of a workspace",
  ])("%s", async (name) => {
    const path = allReads(viewers, task, SIZE)[name]?.path;
    if (path === undefined) throw new Error("there is no such read");
    recorder.statements.length = 0;
    const { status, text } = await owner.call("GET", path);
    expect(status, text).toBe(200);
    const plans = await Promise.all(recorder.statements.map((statement) => planOf(service, statement)));
    expect(plans).not.toEqual([]);
    const ofAccounts = ["api_keys", "scorecards", "run_days", "runs", "webhooks", "agents", "purchases", "revenue"];
    const owned = [...ofAccounts, "team_members", "team_invitations"];
    expect(plans.flatMap(scanned).filter((table) => owned.includes(table))).toEqual([]);
    for (const plan of plans) expect(looked(plan, owned)).toBeLessThanOrEqual(2000);
  });
});

it.each(["trigger=scheduled", "trigger=scheduled&status=failed", "scope=personal&passed=false"])(
  "looks for no facet (%s) that an agent's runs don't have, however many agents there are",
  async (narrowed) => {
    const { id, call } = await newUser(service, { plan: "enterprise" });
    const many = 300;
    await service.sql(
      `with a as (
         insert into agents (user_id, name, connection_mode, is_public)
         select $1, 'Agent ' || n, 'mock', false from generate_series(1, $3) n returning id
       )
       insert into runs (agent_id, task_id, user_id, status, failure_code, trigger, scope)
       select a.id, $2, $1, 'failed', 'agent_timeout', 'scheduled', 'personal' from a`,
      [id, task.id, many],
    );
    recorder.statements.length = 0;
    const { body } = await call("GET", `/api/v1/runs?${narrowed}&page_size=50`);
    expect([body.items.length, body.total]).toEqual([50, many]);
    const [statement] = recorder.statements;
    // Of each agent the facets, one after the other, and its runs for the total and for the page; of the caller every facet.
    const facets = 16 * 5 * 10;
    const plan = await planOf(service, statement ?? NONE);
    expect(entered(plan, "runs")).toBeLessThan(6 * many + 4 * facets);
    expect(scanned(plan).filter((table) => FILLED.includes(table))).toEqual([]);
  },
);

it("a large catalogue is put in order by its keys, without writing what all tasks say to disk", async () => {
  await service.sql(
    `insert into tasks (title, domain, prompt, output_format, grader, reference_cost_usd, reference_latency_ms, is_secret)
     select 'Task ' || n, 'math', (select string_agg(md5(n || ':' || k), ' ') from generate_series(1, 40) k), 'text',
       '{"type": "exact"}', 0.01, 1000, true from generate_series(1, 8000) n`,
  );
  await service.sql("analyze tasks");
  recorder.statements.length = 0;
  expect((await newcomer.call("GET", "/api/v1/tasks?page=3")).body.items).toHaveLength(20);
  const { query, params } = recorder.statements.find((one) => one.query.includes("row_number()")) ?? NONE;
  const plan = await service.sql<{ "QUERY PLAN": string }>(`explain (analyze, buffers) ${query}`, params);
  expect(plan.map((line) => line["QUERY PLAN"]).filter((line) => /\btemp\b.*written/.test(line))).toEqual([]);
});
