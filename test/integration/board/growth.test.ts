import { IN_ONE_PART } from "../operations/daily-support.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { END_ALL } from "../../../shared/runs/finalise.ts";
import { SUM_UP } from "../../../shared/runs/sum-up.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { inBulk } from "../../stack/bulk.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { fetched, type Plan, planOf, type Recorder, startRecorder } from "../http/plans-support.ts";
import { addAgent, addRun, addSuite, growSuite, startAgent } from "../runs/support.ts";

const PAST = 5000;
/** Their cells are more than one piece of the daily work takes, though they are few. */
const AGENTS = 12;
const TASKS = 200;

let recorder: Recorder;
let service: TestService;
let endpoint: Consumer;
let owner: User;

beforeAll(async () => {
  recorder = await startRecorder();
  service = await startService({ settings: { NEON_LOCAL_PROXY: recorder.url } });
  endpoint = await startAgent();
  owner = await newUser(service, { plan: "enterprise" });
});

afterAll(async () => {
  await service.stop();
  await endpoint.stop();
  await recorder.close();
});

it("sums a run up from the ten latest, however many came before, of whatever kind", async () => {
  const { tasks } = await addSuite(service, 1);
  const agent = await addAgent(owner, { endpoint: `${endpoint.url}/run` });
  // Runs of an older version of the suite, simulated, private and uncounted ones lie between those that are scored.
  await service.sql(
    `insert into runs (agent_id, task_id, trigger, scope, status, counted, simulated, is_private, passed, correctness,
       suite_version, failure_code, finalized_at)
     select $1, $2, 'manual', 'personal', 'completed', n % 7 <> 1, n % 7 = 2, n % 7 = 3, n % 2 = 0, 1,
       (select suite_version from tasks where id = $2) - (n % 7 = 4)::integer,
       case when n % 7 = 5 then 'service_error' end, now() - n * interval '1 minute'
     from generate_series(1, ${PAST}) n`,
    [agent, tasks[0]],
  );
  await service.sql("analyze runs");
  recorder.statements.length = 0;
  await addRun(owner, agent, tasks[0] ?? "");
  await service.settled();
  const [ending, ...others] = recorder.statements.filter(({ query }) => query.includes(END_ALL.name));
  expect(others).toEqual([]);
  // What the step that sums up is given of it: after the agents, and the runs and their time.
  const summing = { query: `select ${SUM_UP.name}($1, $2)`, params: ending?.params.slice(3, 5) ?? [] };
  expect(await fetched(service, summing, "runs")).toBe(20);
  const rows = await service.sql(
    "select simulated, n from task_scores where agent_id = $1 and period = 'all' order by 1",
    [agent],
  );
  expect(rows).toEqual([
    { simulated: false, n: 10 },
    { simulated: true, n: 10 },
  ]);
});

it("goes through the runs of a variant group once for all of its members, however many there are", async () => {
  const { tasks } = await addSuite(service, 5);
  const rowsFor = async (variants: number): Promise<number> => {
    const root = await addAgent(owner);
    await service.sql(
      `with v as (
         insert into agents (user_id, name, connection_mode, variant_of)
         select $1, 'Variant ' || n || ' of ' || $4, 'mock', $2::uuid from generate_series(1, $4::integer) n returning id
       ), r as (
         insert into runs (agent_id, task_id, trigger, scope, status, simulated, passed, suite_version, serving_model, finalized_at)
         select v.id, t.id, 'manual', 'personal', 'completed', true, true, t.suite_version, 'm', now()
         from v, tasks t where t.id = any($3) returning agent_id, task_id
       )
       insert into task_scores (agent_id, task_id, period, simulated, n, c, success, reliability, cost_efficiency,
         correctness, robustness, last_run_at)
       select agent_id, task_id, 'all', true, 1, 1, 1, 1, 1, 1, 1, now() from r`,
      [owner.id, root, tasks, variants],
    );
    await service.sql("analyze agents, runs, task_scores");
    recorder.statements.length = 0;
    const { body } = await caller(service).call("GET", `/api/v1/agents/${root}/frontier`);
    expect(body.members).toHaveLength(1 + variants);
    expect(body.members.at(-1)).toMatchObject({ runs: 5, pass_rate: 1, model: "m" });
    const [reading] = recorder.statements.filter(({ query }) => query.includes("task_scores"));
    return handled(await planOf(service, reading ?? { query: "", params: [] }));
  };
  const few = await rowsFor(20);
  // Eight times as many members are eight times as many rows.
  expect(await rowsFor(160)).toBeLessThan(10 * few);
});

it("shows the latest of a variant group that has more than can be read at once, and the one that is asked for", async () => {
  const root = await addAgent(owner);
  const ids = await service.sql<{ id: string }>(
    `insert into agents (user_id, name, connection_mode, variant_of, created_at)
     select $1, 'Variant ' || n, 'mock', $2::uuid, now() + make_interval(secs => n) from generate_series(0, 501) n returning id`,
    [owner.id, root],
  );
  const shownOf = async (agent = "") => {
    const { body } = await caller(service).call("GET", `/api/v1/agents/${agent}/frontier`);
    return { is_capped: body.is_capped, members: body.members.map((member: { name: string }) => member.name).slice(1) };
  };
  const named = (...numbers: number[]) => numbers.map((number) => `Variant ${number}`);
  const latest = Array.from({ length: 499 }, (_, index) => index + 3);
  expect(await shownOf(root)).toEqual({ is_capped: true, members: named(2, ...latest) });
  expect(await shownOf(ids[0]?.id)).toEqual({ is_capped: true, members: named(0, ...latest) });
  await service.sql("delete from agents where variant_of = $1 and name in ('Variant 0', 'Variant 1')", [root]);
  expect(await shownOf(root)).toEqual({ is_capped: false, members: named(2, ...latest) });
});

it("shows a variant group whose members have more tasks together than one answer of the database holds", async () => {
  const root = await addAgent(owner);
  const { id, tasks } = await addSuite(service, 1);
  await growSuite(service, { id, tasks }, 400);
  await service.sql(
    inBulk(
      ["runs", "task_scores"],
      `with a as (
         insert into agents (user_id, name, connection_mode, variant_of)
         select '${owner.id}', 'Much ' || n, 'mock', '${root}' from generate_series(1, 500) n returning id
       )
       insert into task_scores (agent_id, task_id, period, simulated, n, c, success, reliability, cost_efficiency, correctness,
         robustness, last_run_at)
       select a.id, t.id, 'all', false, 1, 1, 1, 1, 1, 1, 1, now() from a, tasks t where t.suite_id = '${id}';
       insert into runs (agent_id, task_id, status, trigger, scope, domain, counted, passed, suite_version, evidence_cost_usd,
         evidence_cost_source, finalized_at)
       select s.agent_id, s.task_id, 'completed', 'manual', 'personal', t.domain, true, t.position % 5 > 0, 1, 0.001 * t.position,
         'reported', now() from task_scores s join tasks t on t.id = s.task_id where t.suite_id = '${id}'`,
    ),
  );
  const { status, body } = await caller(service).call("GET", `/api/v1/agents/${root}/frontier`);
  expect(status).toBe(200);
  expect(body.members).toHaveLength(501);
  expect(body.members.at(-1)).toMatchObject({
    pass_rate: 0.8,
    pass_k: { "1": 0.8, "2": null },
    mean_cost_per_task_usd: 0.2005,
    priced_runs: 400,
    runs: 400,
    provenance: "real",
  });
});

/** How many rows the parts of a plan gave or left out. */
function handled(plan: Plan): number {
  const own = (plan["Actual Rows"] + plan["Rows Removed by Filter"]) * plan["Actual Loops"];
  return (plan.Plans ?? []).reduce((sum, part) => sum + handled(part), own);
}

it("takes agents of many cells in smaller pieces of the daily work", async () => {
  await service.sql("truncate runs, task_scores, board_entries cascade");
  const { tasks } = await addSuite(service, TASKS);
  await service.sql(
    `with a as (
       insert into agents (id, user_id, name, connection_mode) select ${IN_ONE_PART}, $1, 'Many ' || n, 'mock'
       from generate_series(1, ${AGENTS}) n returning id
     )
     insert into task_scores (agent_id, task_id, period, simulated, n, c, success, reliability, cost_efficiency, correctness,
       robustness, last_run_at)
     select id, task_id, period, false, 1, 1, 1, 1, 1, 1, 1, now()
     from a, unnest($2::uuid[]) task_id, unnest('{all,30d,7d}'::text[]) period`,
    [owner.id, tasks],
  );
  service.logs.length = 0;
  await service.app.scheduled(DAILY);
  const pieces = service.logs.filter((line) => line.includes('"recomputed"')).map((line) => JSON.parse(line).agents);
  expect(pieces).toEqual([9, 3]);
  // None of them has a run: a cell without one is no cell.
  expect(await service.sql("select from task_scores")).toEqual([]);
});
