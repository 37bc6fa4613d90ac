import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DOMAINS } from "../../../shared/catalogue/domains.ts";
import { FAILURE_CODES } from "../../../shared/runs/answer.ts";
import { TRIGGERS } from "../../../shared/db/schema/index.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, range } from "./support.ts";

/** What a filter is judged by: RunRead, and what the test knows of the run besides. */
interface Run {
  id: string;
  agent_id: string;
  task_id: string;
  screening_session_id: string | null;
  suite_id: string | null;
  domain: string;
  status: string;
  trigger: string;
  passed: boolean | null;
  failure_code: string | null;
  created_at: string;
  scope: string;
  team_id: string | null;
  user_id: string;
}

const FROM = Date.parse("2026-11-01T00:00:00.000Z");
const MINUTE = 60_000;

let service: TestService;
let owner: User;
let other: User;
let anonymous: Caller;
let team: string;
/** Runs in every state of agents of the owner, of the workspace and of somebody else, public and private. */
let all: Run[];
/** Which of them each caller sees, as reads one by one say. */
let callers: { name: string; who: Caller; id: string | null; seen: Run[] }[];

beforeAll(async () => {
  service = await startService();
  [owner, other] = [await newUser(service, { plan: "team" }), await newUser(service, { plan: "pro" })];
  anonymous = caller(service);
  team = (await owner.call("POST", "/api/v1/teams", { name: "Filters" })).body.id;
  const agents = [
    await addAgent(owner),
    await addAgent(owner, { is_public: false }),
    await addAgent(owner, { team_id: team }),
    await addAgent(other),
    await addAgent(other, { is_public: false }),
  ];
  await service.sql(
    `insert into screening_sessions (agent_id, user_id, trigger, task_plan, repeats)
     select a.id, a.user_id, 'manual', '[]', 1 from agents a`,
  );
  // Every outcome with every domain and trigger, at agents in turn; a number for each makes them differ otherwise.
  await service.sql(
    `insert into runs (id, agent_id, task_id, suite_id, screening_session_id, user_id, scope, team_id, is_private, trigger,
        status, passed, failure_code, created_at)
     select uuidv7_at(x.at, x.n), a.id, t.id, t.suite_id, case when x.n % 3 = 0 then s.id end,
        case when x.n % 7 = 0 then $4::uuid else a.user_id end,
        case when a.team_id is null or x.n % 7 = 0 then 'personal' else 'team' end,
        case when x.n % 7 <> 0 then a.team_id end, x.n % 4 = 0, x.trigger,
        case when o.o <= 2 then 'completed' when o.o <= 12 then 'failed' else (array['queued','running','cancelled'])[o.o - 12] end,
        case when o.o <= 2 then o.o = 1 when o.o <= 11 then false end,
        case when o.o between 3 and 12 then ($3::text[])[o.o - 2] when x.n % 2 = 0 and o.o = 14 then 'agent_timeout' end, x.at
     from (select n, to_timestamp(($2::bigint + n * 60000) / 1000.0) as at, (($5::text[])[1 + n % 5]) as trigger, n % 15 + 1 as o
        from generate_series(1, 600) n) x
     join lateral (select x.o) o(o) on true
     join (select id, user_id, team_id, row_number() over (order by id) as i from agents) a on a.i = 1 + x.n % 5
     join screening_sessions s on s.agent_id = a.id
     join lateral (select id, suite_id from tasks where not is_secret and domain = ($1::text[])[1 + x.n / 15 % 10]
        order by id offset x.n % 2 limit 1) t on true`,
    [DOMAINS, FROM, FAILURE_CODES, other.id, TRIGGERS],
  );
  expect(agents).toHaveLength(5);
  all = await service.sql<Run & Record<string, unknown>>(
    `select r.id, r.agent_id, r.task_id, r.screening_session_id, r.suite_id, t.domain, r.status, r.trigger, r.passed, r.failure_code,
       r.created_at, r.scope, r.team_id, r.user_id from runs r join tasks t on t.id = r.task_id order by r.id desc`,
  );
  const seenBy = async (who: Caller): Promise<Run[]> => {
    const { body } = await who.call("GET", "/api/v1/runs?page_size=100");
    const rest = await Promise.all(
      range(Math.ceil(body.total / 100)).map((n) => who.call("GET", `/api/v1/runs?page_size=100&page=${n + 1}`)),
    );
    const ids = new Set(rest.flatMap((page) => page.body.items.map(({ id }: { id: string }) => id)));
    return all.filter(({ id }) => ids.has(id));
  };
  callers = [
    { name: "owner", who: owner, id: owner.id, seen: await seenBy(owner) },
    { name: "other", who: other, id: other.id, seen: await seenBy(other) },
    { name: "anybody", who: anonymous, id: null, seen: await seenBy(anonymous) },
  ];
}, 60_000);

afterAll(() => service.stop());

const SIMPLE = [
  "agent_id",
  "task_id",
  "screening_session_id",
  "suite_id",
  "domain",
  "status",
  "trigger",
  "failure_code",
] as const;

/** Whether a run is to be shown for these parameters. */
function matches(run: Run, query: URLSearchParams, viewer: string | null): boolean {
  const made = Date.parse(run.created_at);
  return [...query].every(([name, value]) => {
    if (name === "passed") return String(run.passed) === value;
    if (name === "created_after") return made >= Date.parse(value);
    if (name === "created_before") return made < Date.parse(value);
    if (name === "mine") return run.user_id === viewer;
    if (name === "team_id") return run.scope === "team" && run.team_id === value;
    const simple = SIMPLE.find((known) => known === name);
    return simple === undefined ? name.startsWith("page") : run[simple] === value;
  });
}

/** Every filter with values that find something, from a run that is to be found. */
function filtersOf(run: Run, viewer: string | null): [string, string][] {
  const simple = SIMPLE.flatMap((name): [string, string][] => (run[name] === null ? [] : [[name, run[name]]]));
  const passed: [string, string][] = run.passed === null ? [] : [["passed", String(run.passed)]];
  const made = Date.parse(run.created_at);
  const times: [string, string][] = [
    ["created_after", new Date(made - 90 * MINUTE).toISOString()],
    ["created_before", new Date(made + 1).toISOString()],
  ];
  const whose: [string, string][] = viewer !== null && run.user_id === viewer ? [["mine", "true"]] : [];
  return [...simple, ...passed, ...times, ...whose];
}

describe("a list of runs narrowed by one filter, by two, or by all that there are", () => {
  it.each([0, 1, 2])("shows exactly those of the visible runs that fit, newest first, to caller %i", async (n) => {
    const { who, id: viewer, seen } = callers[n] ?? { who: anonymous, id: null, seen: [] };
    expect(seen.length).toBeGreaterThan(100);
    const samples = seen.filter((_run, index) => index % 11 === 5);
    const found = new Set<string>();
    // Each pair of filters with the values of another run, and once all of them.
    const names = new Set(samples.flatMap((run) => filtersOf(run, viewer).map(([name]) => name)));
    const pairs = [...names].flatMap((first, i) => [...names].slice(i).map((second) => [first, second]));
    // The callers share the pairs out, so that the test stays short.
    const queries = [...pairs.filter((_pair, index) => index % callers.length === n), [...names]].map(
      (chosen, index) => {
        const fitting = (run: Run) => chosen.every((name) => filtersOf(run, viewer).some(([known]) => known === name));
        const turned = [...samples.slice(index % samples.length), ...samples];
        const run = turned.find(fitting) ?? turned[0];
        const filters = run === undefined ? [] : filtersOf(run, viewer).filter(([name]) => chosen.includes(name));
        return new URLSearchParams(filters).toString();
      },
    );
    for (const query of queries) {
      const { status, body, text } = await who.call("GET", `/api/v1/runs?page_size=100&${query}`);
      expect([query, status], text).toEqual([query, 200]);
      const expected = seen.filter((one) => matches(one, new URLSearchParams(query), viewer)).map(({ id }) => id);
      const shown = body.items.map(({ id }: { id: string }) => id);
      expect([query, body.total, shown]).toEqual([query, expected.length, expected.slice(0, 100)]);
      for (const id of shown) found.add(id);
    }
    expect(found.size).toBeGreaterThan(60);
  });

  it("goes on page after page where facets are looked up one by one", async () => {
    const pages = await Promise.all(
      range(4).map((n) => owner.call("GET", `/api/v1/runs?team_id=${team}&passed=false&page_size=9&page=${n + 1}`)),
    );
    const shown = pages.flatMap(({ body }) => body.items.map(({ id }: { id: string }) => id));
    const expected = all.filter((run) => run.team_id === team && run.passed === false).map(({ id }) => id);
    expect(shown).toEqual(expected.slice(0, 36));
    expect(expected.length).toBeGreaterThan(36);
  });
});

it.each([
  ["screening_session_id=019ab000-0000-7000-8000-000000000000", 404, "not_found"],
  ["task_id=019ab000-0000-7000-8000-000000000000", 404, "not_found"],
  ["suite_id=019ab000-0000-7000-8000-000000000000", 404, "not_found"],
  ["failure_code=agent_timout", 422, "validation_failed"],
  ["created_after=yesterday", 422, "validation_failed"],
  ["pased=true", 422, "unrecognized_parameter"],
])("answers %s with %i %s", async (query, status, code) => {
  const { body, text } = await owner.call("GET", `/api/v1/runs?${query}`);
  expect([body.status, body.code], text).toEqual([status, code]);
  if (code === "unrecognized_parameter") expect(text).toContain("the nearest known one is passed");
});

it("narrows tasks by suite and by whether they are retired", async () => {
  const { body: active } = await anonymous.call("GET", "/api/v1/tasks?page_size=100");
  const suite: string = active.items[0].suite_id;
  const [{ id: retired } = { id: "" }] = await service.sql<{ id: string }>(
    "update tasks set is_active = false, retired_at = now() where id = (select max(id::text)::uuid from tasks where suite_id = $1 and is_active) returning id",
    [suite],
  );
  const ids = async (query: string) =>
    (await owner.call("GET", `/api/v1/tasks?page_size=100&suite_id=${suite}${query}`)).body.items.map(
      ({ id }: { id: string }) => id,
    );
  const before = active.items.filter((task: { suite_id: string }) => task.suite_id === suite);
  expect(await ids("")).toEqual(before.map(({ id }: { id: string }) => id).filter((id: string) => id !== retired));
  expect(await ids("&is_active=false")).toEqual([retired]);
  expect((await anonymous.call("GET", `/api/v1/tasks?suite_id=${owner.id}`)).status).toBe(404);
});
