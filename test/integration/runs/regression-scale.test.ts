import { afterAll, beforeAll, expect, it } from "vitest";
import { detectRegression } from "../../../shared/runs/regression.ts";
import { inBulk } from "../../stack/bulk.ts";
import { newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { fetched, type Recorder, startRecorder } from "../http/plans-support.ts";
import { contextOf } from "./run-events-support.ts";
import { addAgent, addSuite } from "./support.ts";

/** How many sessions an agent has had over the same tasks, and how many over others. */
const SESSIONS = 2000;
/** The tasks of a session. */
const TASKS = 5;

let service: TestService;
let recorder: Recorder;
let agent: string;
const most: Record<string, number> = {};

beforeAll(async () => {
  recorder = await startRecorder(async (statement) => {
    for (const table of ["screening_sessions", "runs"])
      most[table] = Math.max(most[table] ?? 0, await fetched(service, statement, table));
  });
  service = await startService({ settings: { NEON_LOCAL_PROXY: recorder.url } });
  const owner = await newUser(service);
  agent = await addAgent(owner);
  const { tasks } = await addSuite(service, TASKS);
  // Odd ones are over all of the tasks, in whatever order; even ones lack the first.
  await service.sql(
    inBulk(
      ["screening_sessions", "runs"],
      `insert into screening_sessions (agent_id, user_id, trigger, task_plan, repeats, finished_at)
       select '${agent}', '${owner.id}', 'scheduled', case n % 4 when 1 then p.up when 3 then p.down else p.up - 0 end, 1,
         timestamptz '2026-01-01' + n * interval '1 hour'
       from generate_series(1, ${2 * SESSIONS + 1}) n, (
         select jsonb_agg(jsonb_build_object('task_id', id, 'suite_version', 1) order by id) as up,
           jsonb_agg(jsonb_build_object('task_id', id, 'suite_version', 1) order by id desc) as down
         from unnest('{${tasks.join(",")}}'::uuid[]) id) p;
       insert into runs (agent_id, task_id, user_id, status, trigger, scope, passed, domain, screening_session_id, canary)
       select s.agent_id, '${tasks[0]}', s.user_id, 'completed', 'scheduled', 'personal',
         s.finished_at < timestamptz '2026-01-01' + ${2 * SESSIONS + 1} * interval '1 hour', 'math', s.id, false
       from screening_sessions s, generate_series(1, ${TASKS})`,
    ),
  );
  await service.sql("analyze screening_sessions, runs");
}, 120_000);

afterAll(async () => {
  await service.stop();
  await recorder.close();
});

/** The agent's sessions, the last that finished first. */
const sessions = (limit: number) =>
  service.sql<{ id: string }>(
    "select id from screening_sessions where agent_id = $1 order by finished_at desc limit $2",
    [agent, limit],
  );

async function compare(session: string | undefined): Promise<void> {
  for (const table of Object.keys(most)) delete most[table];
  await detectRegression(
    contextOf(service, () => new Date()),
    session ?? "",
  );
}

it("a session is compared with the one before it over the same tasks, and no other is looked at, however many there are", async () => {
  const [session, , baseline] = await sessions(3);
  await service.sql(
    "insert into webhooks (user_id, url, event_types) select user_id, 'https://a.example/', $1 from agents",
    [["regression.detected"]],
  );
  await compare(session?.id);
  const [event] = await service.sql<{ body: string }>("select body from webhook_events where id = $1", [session?.id]);
  expect(JSON.parse(event?.body ?? "{}").data).toMatchObject({ baseline_session_id: baseline?.id, pass_rate: 0 });
  expect(most["screening_sessions"]).toBeLessThanOrEqual(20);
  expect(most["runs"]).toBeLessThanOrEqual(10 * TASKS);
});

it("one that says nothing, since its runs are simulated, is compared with none", async () => {
  await service.sql(inBulk(["runs"], "update runs set simulated = true"));
  const [session] = await sessions(1);
  await compare(session?.id);
  expect(most["screening_sessions"]).toBeLessThanOrEqual(20);
  expect(most["runs"]).toBeLessThanOrEqual(10 * TASKS);
});
