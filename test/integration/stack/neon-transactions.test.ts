import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { neon, neonConfig, NeonDbError } from "@neondatabase/serverless";
import type { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createCounters } from "../../stack/counters.ts";
import { createFaults, type FaultMode } from "../../stack/faults.ts";
import type { Listening } from "../../stack/http.ts";
import { openClient } from "../../stack/neon/connections.ts";
import { startNeonFront } from "../../stack/neon/front.ts";
import { type Postgres, startPostgres } from "../../stack/neon/postgres.ts";

// Long enough for a loaded machine; what is waited for comes within milliseconds.
const PATIENCE = { timeout: 20_000 };
const counters = createCounters();
const faults = createFaults();
const sql = neon("postgres://anyone:any-password@db.example.test/postgres");
let dir: string;
let postgres: Postgres;
let front: Listening;
let admin: Client;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "stack-neon-"));
  postgres = await startPostgres({ dir });
  front = await startNeonFront({ resolve: postgres.url, faults, counters });
  // A service that ran in this worker before has left its own.
  neonConfig.fetchFunction = undefined;
  neonConfig.fetchEndpoint = () => `${front.url}/sql`;
  admin = await openClient(postgres.adminUrl);
  await admin.query("create table cells (id int primary key, n int not null)");
});

afterAll(async () => {
  await admin.end();
  await front.close();
  await postgres.stop();
  await rm(dir, { recursive: true });
});

beforeEach(async () => {
  await admin.query("truncate cells; insert into cells values (1, 0)");
  counters.reset();
});

afterEach(() => faults.set({ service: "db", mode: "none" }));

// The driver's own promise sends its statement each time that somebody awaits it: `run` makes it one call.
const add = () => sql`update cells set n = n + 1 where id = 1`;
const run = async () => add();
const value = async () => (await admin.query("select n from cells where id = 1")).rows[0].n;

/** How many statements wait for the advisory lock that the test itself holds. */
async function waiting(): Promise<number> {
  const { rows } = await admin.query(
    "select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted",
  );
  return rows[0].n;
}

describe("a batch", () => {
  test.each([
    [{}, ["read committed", "off", "off"]],
    [{ isolationLevel: "ReadUncommitted" }, ["read uncommitted", "off", "off"]],
    [{ isolationLevel: "ReadCommitted", readOnly: false }, ["read committed", "off", "off"]],
    [{ isolationLevel: "RepeatableRead", readOnly: true }, ["repeatable read", "on", "off"]],
    [{ isolationLevel: "Serializable", readOnly: true, deferrable: true }, ["serializable", "on", "on"]],
  ] as const)("with %j is one transaction of that kind", async (options, expected) => {
    const settings = sql`
      select current_setting('transaction_isolation'), current_setting('transaction_read_only'),
        current_setting('transaction_deferrable'), txid_current_if_assigned()`;
    const results = await sql.transaction([settings], { ...options, arrayMode: true });
    expect(results[0]?.[0]?.slice(0, 3)).toEqual(expected);
  });

  test("shows its own changes to its later statements, under one transaction id", async () => {
    const id = sql`select n, pg_current_xact_id()::text as id from cells`;
    const [, first, , second] = await sql.transaction([add(), id, add(), id]);
    expect(first).toEqual([{ n: 1, id: second?.[0]?.id }]);
    expect(second?.[0]?.n).toBe(2);
  });

  test("rolls back whole when one of its statements fails", async () => {
    await expect(sql.transaction([add(), sql`select 1 / 0`, add()])).rejects.toMatchObject({ code: "22012" });
    expect(await value()).toBe(0);
  });

  test("that is read-only is refused what it writes, with 25006", async () => {
    await expect(sql.transaction([add()], { readOnly: true })).rejects.toMatchObject({ code: "25006" });
    expect(await value()).toBe(0);
  });

  test.each([
    ["ReadCommitted", "commits", 11],
    ["RepeatableRead", "40001", 10],
    ["Serializable", "40001", 10],
  ] as const)("overtaken by another writer under %s: %s", async (isolationLevel, expected, left) => {
    await admin.query("select pg_advisory_lock(1)");
    const overtaken = sql.transaction([sql`select n from cells`, sql`select pg_advisory_xact_lock(1)`, add()], {
      isolationLevel,
    });
    const outcome = overtaken.then(
      () => "commits",
      (error: NeonDbError) => error.code,
    );
    await expect.poll(waiting, PATIENCE).toBe(1);
    await sql`update cells set n = 10 where id = 1`;
    await admin.query("select pg_advisory_unlock(1)");
    expect(await outcome).toBe(expected);
    expect(await value()).toBe(left);
  });
});

describe("a connection between two requests", () => {
  test("loses its settings and its prepared statements", async () => {
    await sql`set application_name = 'mine'`;
    await sql`prepare mine as select 1`;
    // In turn they have the same connection.
    const [left] = await sql`select current_setting('application_name') as name,
      (select count(*)::integer from pg_prepared_statements where name = 'mine') as prepared`;
    expect(left).toEqual({ name: "", prepared: 0 });
  });
});

describe("many callers at once", () => {
  test("are each served, on several connections, and no update is lost", async () => {
    await Promise.all(Array.from({ length: 50 }, run));
    expect(await value()).toBe(50);
    const { rows } = await admin.query(
      "select count(*)::int as n from pg_stat_activity where backend_type = 'client backend'",
    );
    expect(rows[0].n).toBeGreaterThan(2);
  });

  test("who leave have what they wait for cancelled, a batch whole, and keep no connection", async () => {
    await admin.query("select pg_advisory_lock(1)");
    const leaving = new AbortController();
    const fetchOptions = { signal: leaving.signal };
    const single = "with l as (select pg_advisory_xact_lock_shared(1)) update cells set n = n + 1 from l";
    const batch = () => [add(), sql`select pg_advisory_xact_lock_shared(1)`, add()];
    // One batch alone: a second one would wait for what it has changed, not for the lock.
    const calls = [
      sql.transaction(batch(), { fetchOptions }),
      ...Array.from({ length: 39 }, async () => sql.query(single, [], { fetchOptions })),
    ];
    const outcomes = Promise.allSettled(calls);
    await expect.poll(waiting, PATIENCE).toBe(40);
    leaving.abort();
    expect((await outcomes).map(({ status }) => status)).toEqual(Array(40).fill("rejected"));
    await expect.poll(waiting, PATIENCE).toBe(0);
    await admin.query("select pg_advisory_unlock(1)");
    await Promise.all(Array.from({ length: 40 }, run));
    expect(await value()).toBe(40);
  });
});

describe("a fault of the database", () => {
  test.each<[mode: FaultMode, message: RegExp, done: number]>([
    ["down", /^Error connecting to database/, 0],
    ["error", /^Server error \(HTTP status 500\)/, 0],
    ["lost", /^Error connecting to database/, 1],
  ])("%s fails a call as %s, having done %i", async (mode, message, done) => {
    faults.set({ service: "db", mode });
    const failed = run();
    await expect(failed).rejects.toThrow(NeonDbError);
    await expect(failed).rejects.toThrow(message);
    expect(await value()).toBe(done);
    expect(counters.db).toEqual({ requests: 1, statements: done });
    faults.set({ service: "db", mode: "none" });
    await run();
    expect(await value()).toBe(done + 1);
  });

  test("with a count is over after so many calls", async () => {
    faults.set({ service: "db", mode: "error", count: 2 });
    const outcomes = [await run().catch(() => "failed"), await run().catch(() => "failed"), await run()];
    expect(outcomes).toEqual(["failed", "failed", []]);
  });

  test("of another service is none of its own", async () => {
    faults.set({ service: "redis", mode: "down" });
    await run();
    faults.set({ service: "redis", mode: "none" });
  });

  test("hang with ms answers after that time", async () => {
    faults.set({ service: "db", mode: "hang", ms: 50 });
    const start = performance.now();
    await run();
    expect(performance.now() - start).toBeGreaterThanOrEqual(49);
    expect(await value()).toBe(1);
  });

  test("hang does nothing until it is lifted, and then what the caller still waits for", async () => {
    faults.set({ service: "db", mode: "hang", count: 2 });
    const leaving = new AbortController();
    const left = sql.transaction([add()], { fetchOptions: { signal: leaving.signal } });
    const patient = sql.transaction([add(), add()]);
    await expect.poll(() => counters.db.requests, PATIENCE).toBe(2);
    leaving.abort();
    await expect(left).rejects.toThrow(/aborted/);
    await run();
    expect(counters.db.statements).toBe(1);
    faults.set({ service: "db", mode: "none" });
    await patient;
    expect(await value()).toBe(3);
    expect(counters.snapshot().db).toEqual({ requests: 3, statements: 3 });
  });
});

describe("the counters", () => {
  test("tell requests and the statements in them, failed ones too, since the last reset", async () => {
    await run();
    await sql.transaction([add(), add(), add()]);
    await sql`select 1 / 0`.catch(() => undefined);
    const counted = counters.snapshot();
    expect(counted.db).toEqual({ requests: 3, statements: 5 });
    counters.reset();
    expect(counters.snapshot().db).toEqual({ requests: 0, statements: 0 });
    expect(counted.db.requests).toBe(3);
  });
});
