import { afterAll, beforeAll, expect, it } from "vitest";
import { recordSuites } from "../../../shared/catalogue/record.ts";
import { canonicalBytes } from "../../../shared/platform/canonical.ts";
import { sha256 } from "../../../shared/platform/crypto.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { addSuite, from, range } from "../runs/support.ts";

/** How many tasks one call reads. */
const A_MINUTE = 2000;

let service: TestService;
let operator: User;
/** How far the clock of the Worker is ahead, in milliseconds. */
let ahead = 0;
const now = () => new Date(Date.now() + ahead);

beforeAll(async () => {
  service = await startService({ overrides: { now } });
  operator = await newUser(service, { email: "admin@example.test", verified: true });
  await minute();
});

afterAll(() => service.stop());

const minute = () => recordSuites(contextOf(service, now));

/** What the log says of a suite: the versions and digests, in their order. */
async function said(suite: string): Promise<{ suite_version: number; sha256: string }[]> {
  const rows = await service.sql<{ entry: string }>(
    "select convert_from(entry, 'UTF8') as entry from log_entries where strpos(convert_from(entry, 'UTF8'), $1) > 0 order by id",
    [suite],
  );
  return rows
    .map(({ entry }) => JSON.parse(entry))
    .map(({ suite_version, sha256: own }) => ({ suite_version, sha256: own }));
}

/** The digest as anybody makes it of public reads. */
async function digest(suite: string): Promise<string> {
  // Lists that anybody reads are kept for ten seconds.
  ahead += 11_000;
  const tasks: { id: string }[] = [];
  for (let page = 1, total = 1; tasks.length < total; page += 1) {
    const path = `/api/v1/tasks?suite_id=${suite}&page_size=100&page=${page}`;
    const { body, text } = await caller(service).call("GET", path, undefined, from(page));
    expect(body.items, text.slice(0, 500)).toBeDefined();
    tasks.push(...body.items);
    total = body.total;
  }
  return sha256(canonicalBytes(tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1))));
}

/** Adds so many tasks to a suite at once. */
const fill = (suite: string, tasks: number, tools = "null") =>
  service.sql(
    `insert into tasks
       (suite_id, position, title, domain, prompt, output_format, grader, reference_cost_usd, reference_latency_ms, tools)
     select $1, n, 'No. ' || n, 'math', 'Number ' || n, 'text', '{"type": "exact"}', 0.002, 2000, ${tools}
     from generate_series(1, ${tasks}) n`,
    [suite],
  );

/** Waits until so many statements of this database wait for a gate. */
async function sleeping(statements: number): Promise<void> {
  const query = "select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";
  await expect.poll(async () => (await service.sql(query)).length, { timeout: 30_000 }).toBe(statements);
}

it("a suite of any size is said, by a digest over its tasks' public form, once", async () => {
  const { id } = await addSuite(service, 0);
  const { id: large } = await addSuite(service, 0);
  await fill(large, 12, `jsonb_build_array(jsonb_build_object('name', 'a', 'description', repeat('x', 1000000)))`);
  await minute();
  await minute();
  expect(await said(id)).toEqual([{ suite_version: 1, sha256: sha256("[]") }]);
  expect(await said(large)).toEqual([{ suite_version: 1, sha256: await digest(large) }]);
  await service.sql("update tasks set is_active = false where suite_id = $1", [large]);
});

it("a minute without a change takes one statement, and one with a change three more than that", async () => {
  const { id, tasks } = await addSuite(service, 3);
  await minute();
  const counted = async () => {
    await service.settled();
    service.counters.reset();
    await minute();
    return service.counters.snapshot().db.requests;
  };
  expect(await counted()).toBe(1);
  await service.sql("update tasks set reference_cost_usd = 0.5 where id = $1", [tasks[0]]);
  // What there is, the suite, its digest, and that no other is left.
  expect([await counted(), await counted()]).toEqual([4, 1]);
  expect((await said(id)).length).toBe(2);
});

it("each change is said: a task that is added, moved to another suite, retired or gone, and a version", async () => {
  const [one, other] = [await addSuite(service, 2), await addSuite(service, 2)];
  await minute();
  for (const [change, suites] of [
    [
      `insert into tasks (suite_id, title, domain, prompt, output_format, grader, reference_cost_usd, reference_latency_ms)
      select suite_id, 'Another', domain, prompt, output_format, grader, 1, 1 from tasks where id = '${one.tasks[0]}'`,
      [one],
    ],
    [`update tasks set suite_id = '${other.id}' where id = '${one.tasks[1]}'`, [one, other]],
    [`update tasks set is_active = false where id = '${one.tasks[0]}'`, [one]],
    [`delete from tasks where id = '${other.tasks[1]}'`, [other]],
    [`update suites set version = 2 where id = '${one.id}'`, [one]],
  ] as const) {
    const before = await Promise.all(suites.map(async ({ id }) => (await said(id)).length));
    await service.sql(change);
    await Promise.all(range(3).map(minute));
    await minute();
    for (const [index, { id }] of suites.entries()) {
      const entries = await said(id);
      expect([change, entries.length]).toEqual([change, (before[index] ?? 0) + 1]);
      expect(entries.at(-1)?.sha256).toBe(await digest(id));
    }
  }
});

it("all are looked at once more where tasks are shown otherwise, and what is the same is not said again", async () => {
  const { id } = await addSuite(service, 1);
  await minute();
  const before = await service.sql("select suite_id, fingerprint, sha256 from suite_records order by suite_id");
  await service.sql("update suite_records set fingerprint = 'of before', sha256 = ''");
  await minute();
  await minute();
  expect(await service.sql("select suite_id, fingerprint, sha256 from suite_records order by suite_id")).toEqual(
    before,
  );
  expect((await said(id)).length).toBe(1);
});

it("a large suite is read on a minute later, others come before, and what changes meanwhile is never half said", async () => {
  const { id } = await addSuite(service, 0);
  await fill(id, A_MINUTE + 10);
  await service.settled();
  service.counters.reset();
  await minute();
  expect(service.counters.snapshot().db.requests).toBe(1 + 2 * 20);
  expect(await said(id)).toEqual([]);
  // What was read already, and what was not.
  await service.sql("update tasks set reference_cost_usd = 0.5 where suite_id = $1 and position in (1, $2)", [
    id,
    A_MINUTE + 5,
  ]);
  const { id: small } = await addSuite(service, 1);
  await minute();
  await minute();
  const whole = { suite_version: 1, sha256: await digest(id) };
  expect([await said(id), (await said(small)).length]).toEqual([[whole], 1]);
});

it("a suite that changes between two of its pages is not said as it was read", async () => {
  const { id } = await addSuite(service, 0);
  await fill(id, 150);
  await service.sql(`create table page_gate (); create function wait_for_page() returns trigger language plpgsql as $$ begin
      loop exit when exists (select from page_gate); perform pg_sleep(0.01); end loop; return new;
    end $$; create trigger waits before update on suite_readings for each row execute function wait_for_page()`);
  const reading = minute();
  await sleeping(1);
  await service.sql("update tasks set reference_cost_usd = 0.5 where suite_id = $1 and position = 1", [id]);
  await service.sql("insert into page_gate default values");
  await reading;
  expect(await said(id)).toEqual([]);
  await Promise.all([minute(), minute()]);
  await minute();
  expect(await said(id)).toEqual([{ suite_version: 1, sha256: await digest(id) }]);
});

it("changes of a suite wait for each other's tasks alone, and the last state is said", async () => {
  const { id, tasks } = await addSuite(service, 40, { secret: true });
  const retire = (task = "", address = 0) =>
    operator.call("POST", `/api/v1/tasks/${task}/retire`, undefined, from(1000 + address));
  await service.sql("create table gate ()");
  const held = service.sql(`do $$ begin
    update tasks set reference_cost_usd = 0.5 where id = '${tasks[0]}';
    loop exit when exists (select from gate); perform pg_sleep(0.01); end loop;
  end $$`);
  await sleeping(1);
  expect((await retire(tasks[1])).status).toBe(200);
  await minute();
  const others = Promise.all([
    ...range(4).map(() => operator.call("POST", "/api/v1/tasks/secret-suites/rotate", { suite_id: id })),
    ...tasks.slice(2, 12).map((task, index) => retire(task, index + 1)),
    ...range(3).map(minute),
  ]);
  await service.sql("insert into gate default values");
  await held;
  expect((await others).map((answer) => answer?.status ?? 200).filter((status) => status !== 200)).toEqual([]);
  await minute();
  expect((await said(id)).at(-1)).toEqual({ suite_version: 5, sha256: await digest(id) });
});
