import { afterAll, beforeAll, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addTeam, TEAMS } from "../workspaces/teams-support.ts";
import {
  addAgent,
  addRun,
  addSuite,
  answersRightly,
  KEY,
  range,
  startAgent,
  type TestSuite,
  unique,
} from "./support.ts";

const PATH = "/api/v1/usage";
const DAY = 86_400_000;

let service: TestService;
let endpoint: Consumer;
let suite: TestSuite;
let owner: User;
let member: User;
let team: string;
/** An agent of the owner's that others may try, and one of the workspace's. */
let own: string;
let shared: string;

beforeAll(async () => {
  [service, endpoint] = await Promise.all([startService(), startAgent()]);
  suite = await addSuite(service, 3);
  [owner, member] = [await newUser(service, { plan: "enterprise" }), await newUser(service, { plan: "team" })];
  team = await addTeam(service, owner, { admin: member });
  const at = { endpoint: `${endpoint.url}/run` };
  own = await addAgent(owner, { ...at, allow_trial: true });
  shared = await addAgent(owner, { ...at, team_id: team });
  // One task in three is failed, and told without a cost.
  endpoint.answer = (request) =>
    request.body.includes(suite.tasks[2] ?? "") ? json(200, { output: `not ${KEY}` }) : answersRightly(request);
});

afterAll(() => Promise.all([service.stop(), endpoint.stop()]));

const today = () => new Date().toISOString().slice(0, 10);
const daysFrom = (day: string, days: number) => new Date(Date.parse(day) + days * DAY).toISOString().slice(0, 10);

async function keyOf(user: User, at = "/api/v1/api-keys"): Promise<Caller & { id: string; name: string }> {
  const { body } = await user.call("POST", at, { name: unique("Key"), scope: "write" });
  return { ...caller(service, { "x-api-key": body.key }), id: body.id, name: body.name };
}

const GROUPS = {
  day: ["date", "(r.created_at at time zone 'UTC')::date::text", "1 desc"],
  agent: ["agent_id", "r.agent_id::text", "2 desc, r.agent_id"],
  key: ["api_key_id", "r.api_key_id::text", "2 desc, r.api_key_id"],
} as const;

/** What a simulated run says of its cost is made up. */
const KNOWN_COST = "(sum(r.evidence_cost_usd) filter (where not r.simulated))::double precision";

/** What the runs themselves say, in the days from `first` to `last`. */
async function recounted(by: keyof typeof GROUPS, whose: string, first: string, last: string): Promise<unknown[]> {
  const [name, column, order] = GROUPS[by];
  return service.sql(
    `select ${column} as ${name}, count(*)::integer as runs, (count(*) filter (where r.passed))::integer as passed,
       ${KNOWN_COST} as evidence_cost_usd
     from runs r where ${whose} and (r.created_at at time zone 'UTC')::date between $1 and $2
     group by 1, ${column.replace("::text", "")} order by ${order}`,
    [first, last],
  );
}

/** Every report of everybody says what the runs say. */
async function expectTold(first = daysFrom(today(), -29), last = today()): Promise<void> {
  const callers = [
    [owner, "", `r.team_id is null and r.user_id = '${owner.id}'`],
    [member, "", `r.team_id is null and r.user_id = '${member.id}'`],
    [member, `&team_id=${team}`, `r.team_id = '${team}'`],
  ] as const;
  for (const [who, query, whose] of callers) {
    for (const by of ["day", "agent", "key"] as const) {
      const { body } = await who.call("GET", `${PATH}?from=${first}&to=${last}&by=${by}${query}`);
      const rows = await recounted(by, whose, first, last);
      expect(body.items.map(({ name: _name, ...row }: Record<string, unknown>) => row)).toEqual(rows);
      const [all] = await service.sql(
        `select count(*)::integer as runs, (count(*) filter (where r.passed))::integer as passed,
           ${KNOWN_COST} as evidence_cost_usd
         from runs r where ${whose} and (r.created_at at time zone 'UTC')::date between $1 and $2`,
        [first, last],
      );
      expect(body).toMatchObject({ by, from: first, to: last, totals: all });
    }
  }
}

it("tells of runs that end side by side by the key that asked for them, and by none", async () => {
  const [ci, theirs, workspace] = await Promise.all([
    keyOf(owner),
    keyOf(member),
    keyOf(owner, `${TEAMS}/${team}/api-keys`),
  ]);
  const all = suite.tasks;
  const batch = (who: Caller, agent_id: string) => who.call("POST", "/api/v1/runs/batch", { agent_id, task_ids: all });
  await Promise.all([
    ...range(4).map((n) => addRun(n % 2 === 0 ? ci : owner, own, all[n % 3] ?? "")),
    ...[ci, owner].map((who) => batch(who, own)),
    ...[theirs, workspace, member].map((who) => batch(who, shared)),
    addRun(theirs, own, all[0] ?? ""),
  ]);
  await service.settled();
  await expectTold();
  const rows = async (who: Caller, query: string) => {
    const { body } = await who.call("GET", `${PATH}?${query}`);
    return body.items.map(({ api_key_id, name, runs }: Record<string, unknown>) => [api_key_id, name, runs]);
  };
  expect(await rows(owner, "by=key")).toEqual(
    expect.arrayContaining([
      [ci.id, ci.name, 5],
      [null, null, 5],
    ]),
  );
  const ofWorkspace = [
    [workspace.id, workspace.name, 3],
    [null, null, 3],
  ];
  expect(await rows(member, `by=key&team_id=${team}`)).toEqual(
    expect.arrayContaining([...ofWorkspace, [theirs.id, theirs.name, 3]]),
  );
  // Nobody else is told what a member calls a key of their own; a workspace's key reads of the workspace.
  for (const [who, query] of [
    [owner, `by=key&team_id=${team}`],
    [workspace, "by=key"],
  ] as const)
    expect(await rows(who, query)).toEqual(expect.arrayContaining([...ofWorkspace, [theirs.id, null, 3]]));
  await owner.call("PATCH", `/api/v1/agents/${own}`, { is_public: false });
  expect((await member.call("GET", `${PATH}?by=agent`)).body.items).toMatchObject([
    { agent_id: own, name: null, runs: 1 },
  ]);
});

it("is for a caller's own days alone, 92 of them at most", async () => {
  const stranger = await newUser(service);
  const [answers, workspace] = [
    await Promise.all(
      [
        "from=2026-03-01&to=2026-06-01",
        "from=2026-03-02&to=2026-03-01",
        "to=0000-01-01",
        "from=2026-02-30",
        "by=task",
      ].map((query) => owner.call("GET", `${PATH}?${query}`)),
    ),
    await stranger.call("GET", `${PATH}?team_id=${team}`),
  ];
  expect(answers.map(({ status, body }) => [status, body.errors[0].pointer])).toEqual([
    [422, "/from"],
    [422, "/from"],
    [422, "/to"],
    [422, "/from"],
    [422, "/by"],
  ]);
  expect([workspace.status, (await caller(service).call("GET", PATH)).status]).toEqual([404, 401]);
  expect((await owner.call("GET", `${PATH}?from=2026-03-01&to=2026-05-31`)).status).toBe(200);
  const fresh = await stranger.call("GET", PATH);
  const totals = { runs: 0, passed: 0, evidence_cost_usd: null };
  expect(fresh.body).toEqual({ by: "day", from: daysFrom(today(), -29), to: today(), totals, items: [] });
  await service.settled();
  service.counters.reset();
  await owner.call("GET", `${PATH}?by=agent`);
  expect(service.counters.snapshot().db.requests).toBe(1);
});

it("stays true while days, accounts and runs come and go", async () => {
  const [gone, other] = [await newUser(service), await keyOf(owner)];
  await service.sql(
    `insert into runs (id, agent_id, task_id, user_id, api_key_id, status, trigger, team_id, scope, passed, evidence_cost_usd,
       simulated, created_at)
     select uuidv7(at - now()), ('{${own},${shared}}'::uuid[])[1 + n % 2], '${suite.tasks[0]}',
       ('{${owner.id},${member.id},${gone.id},NULL}'::uuid[])[1 + n / 2 % 4], case n % 5 when 0 then '${other.id}'::uuid end,
       'completed', 'manual', case n % 2 when 1 then '${team}'::uuid end, case n % 2 when 1 then 'team' else 'personal' end,
       n % 3 = 0, case when n % 7 > 2 then n * 0.000001 end, n % 11 = 0, at
     from (select n, date_trunc('day', now(), 'UTC') - n % 40 * interval '1 day'
         + case n % 3 when 0 then interval '0' when 1 then interval '23:59:59.999' else interval '7 hours' end as at
       from generate_series(0, 799) n) x where at <= now()`,
  );
  await expectTold();
  const [first, last] = [daysFrom(today(), -17), daysFrom(today(), -3)];
  await expectTold(first, last);
  // Agents are locked first, as wherever runs end.
  await Promise.all([
    service.sql(`select from agents where id in ('${own}', '${shared}') order by id for no key update;
      delete from users where id = '${gone.id}';
      delete from runs where created_at < now() - interval '20 days' and right(id::text, 1) < '8';
      update runs set api_key_id = null where api_key_id = '${other.id}' and passed;
      update runs set passed = true, evidence_cost_usd = 1 where agent_id = '${shared}' and not passed`),
    ...range(6).map((n) => addRun(n % 2 === 0 ? other : owner, n % 3 === 0 ? own : shared, suite.tasks[n % 3] ?? "")),
  ]);
  await service.settled();
  await expectTold();
  await service.sql("delete from agents where id = $1", [own]);
  await service.sql("delete from runs");
  expect(await service.sql("select from run_days")).toEqual([]);
  await expectTold();
});
