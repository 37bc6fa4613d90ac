import { afterAll, beforeAll, expect, it } from "vitest";
import { DAILY } from "../../../functions/scheduled.ts";
import { inBulk } from "../../stack/bulk.ts";
import { newUser, PASSWORD } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { fetched, type Recorder, startRecorder } from "../http/plans-support.ts";
import { dailyStates } from "../operations/daily-support.ts";

const DAY = 86_400_000;
/** What one statement deletes or changes at most. */
const CHUNK = 500;
/** Of one agent so many runs stay, and so many are deleted. */
const KEPT = 18_000;
const GONE = 2000;

let recorder: Recorder;
let service: TestService;
let ahead = 0;
/** The most runs that a statement over a chunk has read, and which; -1 while nothing is measured. */
let most = { rows: -1, query: "" };

beforeAll(async () => {
  recorder = await startRecorder(async (statement) => {
    if (most.rows < 0 || !statement.query.includes("done as (")) return;
    const rows = await fetched(service, statement, "runs");
    if (rows > most.rows) most = { rows, query: statement.query };
  });
  service = await startService({
    settings: { NEON_LOCAL_PROXY: recorder.url },
    overrides: { now: () => new Date(Date.now() + ahead) },
  });
}, 60_000);

afterAll(async () => {
  await service.stop();
  await recorder.close();
});

it("goes through what an account leaves once: what stays of it costs the next statements nothing", async () => {
  const user = await newUser(service);
  const [{ agent } = { agent: "" }] = await service.sql<{ agent: string }>(
    `insert into agents (user_id, name, connection_mode) values ($1, 'a', 'mock') returning id as agent`,
    [user.id],
  );
  await service.sql(
    inBulk(
      ["runs"],
      `insert into runs (agent_id, task_id, domain, trigger, scope, status, counted, passed, user_id, explanation)
        select '${agent}', t.id, t.domain, 'manual', 'personal', 'completed', n % ${(KEPT + GONE) / GONE} > 0, true,
          case when n % 10 = 1 then '${user.id}'::uuid end, case when n % 10 = 2 then 'because' end
        from (select * from tasks limit 1) t, generate_series(1, ${KEPT + GONE}) n`,
    ),
  );
  await service.sql("analyze runs, agents");
  expect((await user.call("POST", "/api/v1/users/me/deletion", { password: PASSWORD })).status).toBe(202);
  ahead = 15 * DAY;
  most = { rows: 0, query: "" };
  await service.app.scheduled(DAILY);
  expect((await dailyStates(service)).get("delete accounts")?.last_error).toBeNull();
  // Each is found by the index, looked at, written, and counted anew by triggers.
  expect(most.rows, most.query).toBeLessThanOrEqual(12 * CHUNK);
  expect(most.rows).toBeGreaterThan(CHUNK);
  const [left] = await service.sql(
    "select count(*)::int as runs, count(user_id)::int as named, count(explanation)::int as explained from runs where agent_id = $1",
    [agent],
  );
  expect(left).toEqual({ runs: KEPT, named: 0, explained: 0 });
  expect(await service.sql("select from users where deletion_scheduled_for is not null")).toEqual([]);
});

it("deletes few large answers in one statement, and all of them, of runs that go and of runs that stay", async () => {
  const user = await newUser(service);
  const size = 1024 * 1024;
  // Both the runs that go and those that stay have a chunk of them more than once over.
  const each = 48;
  const [{ agent } = { agent: "" }] = await service.sql<{ agent: string }>(
    `with a as (insert into agents (user_id, name, connection_mode) values ($1, 'a', 'mock') returning id),
     r as (insert into runs (agent_id, task_id, domain, trigger, scope, status, counted, passed)
       select a.id, t.id, t.domain, 'manual', 'personal', 'completed', n % 2 = 0, true
       from a, (select * from tasks limit 1) t, generate_series(1, ${2 * each}) n returning id, agent_id),
     e as (insert into run_exchanges (run_id, request, request_salt, response, response_salt, answer)
       select id, '', '', convert_to(repeat('a', ${size}), 'UTF8'), '', repeat('a', ${size}) from r)
     select id as agent from a`,
    [user.id],
  );
  await service.sql("create table weighed (at timestamptz, bytes bigint)");
  await service.sql(`create function weigh() returns trigger language plpgsql as $$ begin insert into weighed
    select statement_timestamp(), coalesce(sum(octet_length(response) + octet_length(answer)), 0) from gone; return null; end $$`);
  await service.sql(`create trigger weigh after delete on run_exchanges referencing old table as gone
    for each statement execute function weigh()`);
  most = { rows: -1, query: "" };
  ahead = 0;
  expect((await user.call("POST", "/api/v1/users/me/deletion", { password: PASSWORD })).status).toBe(202);
  ahead = 15 * DAY;
  await service.app.scheduled(DAILY);
  expect((await dailyStates(service)).get("delete accounts")?.last_error).toBeNull();
  const [deleted] = await service.sql(`select sum(bytes)::float as all, max(bytes)::float as most
    from (select sum(bytes) as bytes from weighed group by at) w`);
  expect(deleted?.["all"]).toBe(4 * each * size);
  expect(deleted?.["most"]).toBeLessThanOrEqual(34 * size);
  const left = await service.sql(
    "select count(*)::int as runs, count(e)::int as kept from runs r left join run_exchanges e on e.run_id = r.id where agent_id = $1",
    [agent],
  );
  expect(left).toEqual([{ runs: each, kept: 0 }]);
  expect(await service.sql("select from users where deletion_scheduled_for is not null")).toEqual([]);
});
