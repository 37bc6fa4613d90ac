import * as fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { cell, composite, type ScoredRun } from "../../../shared/scoring/score.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, type TestSuite } from "./support.ts";

const AT = "/api/v1/screening-sessions";

let service: TestService;
let owner: User;
let agent: string;
let suite: TestSuite;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "pro" });
  agent = await addAgent(owner);
  suite = await addSuite(service, 3);
});
afterAll(() => service.stop());

/** How a run of a session ended. */
const ended = fc.record({
  task: fc.nat(2),
  status: fc.constantFrom("completed", "completed", "completed", "failed", "cancelled"),
  passed: fc.boolean(),
  failure_code: fc.constantFrom("agent_timeout", "service_error"),
  cost: fc.option(fc.integer({ min: 0, max: 9000 })),
  partial: fc.boolean(),
  canary: fc.constantFrom(false, false, false, true),
  is_private: fc.boolean(),
});
type Ended = typeof ended extends fc.Arbitrary<infer T> ? T : never;

/** Puts a session with these runs into the database. */
async function addSession(runs: readonly Ended[]): Promise<string> {
  const [row] = await service.sql<{ id: string }>(
    `with s as (insert into screening_sessions (agent_id, user_id, trigger, task_plan, repeats)
       values ($1, $2, 'manual', '[]', 10) returning id), r as (
     insert into runs (agent_id, task_id, user_id, trigger, scope, screening_session_id, position, repeat_index, status, passed,
       failure_code, evidence_cost_usd, evidence_cost_partial, evidence_cost_source, canary, is_private, started_at, finalized_at)
     select $1, x.task_id, $2, 'manual', 'personal', s.id, 1, 1, x.status, x.passed, x.failure_code, x.cost, x.partial,
       'self_reported', x.canary, x.is_private, now(), now() from s, jsonb_to_recordset($3::jsonb) as x(task_id uuid,
         status text, passed boolean, failure_code text, cost numeric, partial boolean, canary boolean, is_private boolean))
     select id from s`,
    [
      agent,
      owner.id,
      JSON.stringify(
        runs.map(({ task, passed, failure_code, cost, ...run }) => ({
          ...run,
          task_id: suite.tasks[task],
          passed: run.status === "completed" ? passed : run.status === "failed" ? false : null,
          failure_code: run.status === "failed" ? failure_code : null,
          cost: cost === null ? null : cost / 1_000_000,
        })),
      ),
    ],
  );
  return row?.id ?? "";
}

/** The score of these runs by the scoring of single runs. */
function scored(runs: readonly Ended[]): number | null {
  const counted = runs.filter(
    ({ status, failure_code, canary }) =>
      !canary && (status === "completed" || (status === "failed" && failure_code !== "service_error")),
  );
  const cells = [...Map.groupBy(counted, ({ task }) => task).values()].map((ofTask) =>
    cell(
      ofTask.map(
        ({ status, passed, cost, partial }): ScoredRun => ({
          passed: status === "completed" && passed,
          correctness: 0,
          gradable: status === "completed",
          latency_ms: null,
          cost_usd: cost === null || partial ? null : cost / 1_000_000,
          tool_calls_made: null,
        }),
      ),
      { reference_cost_usd: 0.002, reference_latency_ms: 2000, expected_tool_calls: null },
    ),
  );
  return cells.length === 0 ? null : composite(cells).composite_score;
}

it("is what scoring gives for the session's runs alone, read by itself or in a list at one look", async () => {
  const sessions = fc.sample(fc.array(ended, { maxLength: 20 }), 60);
  const given = [[], ...sessions];
  const expected = new Map<string, number | null>();
  for (const runs of given) {
    const capped = [0, 1, 2].flatMap((task) => runs.filter((run) => run.task === task).slice(0, 10));
    expected.set(await addSession(capped), scored(capped));
  }
  expect(new Set(expected.values()).size).toBeGreaterThan(30);
  await service.settled();
  service.counters.reset();
  const list = await owner.call("GET", `/api/v1/agents/${agent}/screening-sessions?page_size=100`);
  expect(service.counters.snapshot().db.requests).toBe(1);
  const shown = list.body.items.map(({ id, composite_score }: Record<string, unknown>) => [id, composite_score]);
  expect(new Map(shown)).toEqual(expected);
  const [[id, score] = ["", null]] = expected;
  expect((await owner.call("GET", `${AT}/${id}`)).body.composite_score).toBe(score);
});

it("is not told before the session is final", async () => {
  const runs = fc.sample(ended, 1).map((run) => ({ ...run, status: "completed" as const, canary: false }));
  const id = await addSession(runs);
  const read = async () => (await owner.call("GET", `${AT}/${id}`)).body.composite_score;
  expect(await read()).not.toBeNull();
  await service.sql("update runs set canary = null where screening_session_id = $1", [id]);
  expect(await read()).toBeNull();
  await service.sql("update runs set canary = false, status = 'running' where screening_session_id = $1", [id]);
  expect(await read()).toBeNull();
});
