import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect as connectTo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migrate } from "../../../migrations/migrate.ts";
import { openClient } from "../../stack/neon/connections.ts";
import { scratchFolder } from "../../stack/scratch.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { connect } from "./kept-support.ts";

let service: TestService;
let url: string;
const folder = scratchFolder("screening-migrations-");

beforeAll(async () => {
  service = await startService();
  const connection = await connect(service);
  url = connection.url;
  await connection.client.end();
});

afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Has `folder` hold these migrations and no other, each newer than all that were applied. */
function ship(...migrations: string[]): void {
  const entries = migrations.map((sql, idx) => {
    const tag = `${idx}_of_a_test`;
    writeFileSync(join(folder, `${tag}.sql`), sql);
    return { idx, tag, when: 9_000_000_000_000 + idx, breakpoints: true };
  });
  mkdirSync(join(folder, "meta"), { recursive: true });
  writeFileSync(join(folder, "meta/_journal.json"), JSON.stringify({ entries }));
}

const statements = (...sql: string[]) => sql.join(";--> statement-breakpoint\n");

/** The columns of both tables. */
const columns = async () =>
  (
    await service.sql<{ name: string }>(
      "select attrelid::regclass || '.' || attname as name from pg_attribute where attrelid in ('one'::regclass, 'two'::regclass) and attnum > 0 order by 1",
    )
  ).map(({ name }) => name);

const noted = async () =>
  (await service.sql("select from drizzle.__drizzle_migrations where created_at >= 9000000000000")).length;

/** Waits until a statement waits for the table `two`. */
const heldUp = () =>
  service.sql(`do $$ begin
    while not exists (select from pg_locks where not granted and relation = 'two'::regclass) loop perform pg_sleep(0.01); end loop;
  end $$`);

describe("a migration beside the running service", () => {
  const [one, two] = ["alter table one add column more integer", "alter table two add column more integer"];

  it.each([
    ["of two, leaves what the first locked to the service while the second waits", [one, two], 60_000],
    [
      "gives way where the service waits for it and it for the service, and is done after that",
      [statements(one, two)],
      200,
    ],
  ])("%s", async (_what, migrations, patience) => {
    await service.sql("drop table if exists one, two; create table one (n integer); create table two (n integer)");
    await service.sql("delete from drizzle.__drizzle_migrations where created_at >= 9000000000000");
    ship(...migrations);
    const worker = await openClient(url);
    try {
      // Longer than the test, as if the service had asked a moment before the migration did.
      await worker.query("set deadlock_timeout = '10min'; begin; select from two");
      const migrated = migrate(url, { folder, patience });
      await heldUp();
      expect(await worker.query("select from one")).toMatchObject({ rowCount: 0 });
      await worker.query("commit");
      await migrated;
    } finally {
      await worker.end();
    }
    expect(await columns()).toEqual(["one.more", "one.n", "two.more", "two.n"]);
    expect(await noted()).toBe(migrations.length);
  });

  it("that never gets its lock says what to do, and keeps what came before it", async () => {
    await service.sql("drop table if exists one, two; create table one (n integer); create table two (n integer)");
    await service.sql("delete from drizzle.__drizzle_migrations where created_at >= 9000000000000");
    ship(one, two);
    const worker = await openClient(url);
    try {
      await worker.query("begin; select from two");
      await expect(migrate(url, { folder, patience: 1 })).rejects.toThrow(
        /start npm run migrate again at a quieter time/,
      );
    } finally {
      await worker.end();
    }
    expect(await columns()).toEqual(["one.more", "one.n", "two.n"]);
    await migrate(url, { folder });
    expect(await columns()).toEqual(["one.more", "one.n", "two.more", "two.n"]);
  });

  it("that was cut off goes on with what is left", async () => {
    await service.sql("drop table if exists one, two; create table one (n integer); create table two (n integer)");
    await service.sql("delete from drizzle.__drizzle_migrations where created_at >= 9000000000000");
    ship(one, statements(two, "select 1 / 0"));
    await expect(migrate(url, { folder })).rejects.toThrow("division by zero");
    expect(await columns()).toEqual(["one.more", "one.n", "two.n"]);
    ship(one, two);
    await Promise.all([migrate(url, { folder }), migrate(url, { folder })]);
    expect(await columns()).toEqual(["one.more", "one.n", "two.more", "two.n"]);
    expect(await noted()).toBe(2);
  });
});

/** What a client says before it leaves. */
const TERMINATE = Buffer.from([0x58, 0, 0, 0, 4]);

/** An address of the server whose connections live on when their client is gone, as those behind a pooler do. */
async function pooled(): Promise<{ url: string; close(): void }> {
  const behind: Socket[] = [];
  const pooler = createServer((client) => {
    const server = connectTo(Number(new URL(url).port), "127.0.0.1");
    behind.push(server);
    client.on("data", (chunk) => void (chunk.equals(TERMINATE) ? client.end() : server.write(chunk)));
    server.pipe(client);
    for (const socket of [client, server]) socket.on("error", () => undefined);
  }).listen(0, "127.0.0.1");
  await once(pooler, "listening");
  const address = new URL(url);
  address.port = String((pooler.address() as AddressInfo).port);
  return {
    url: address.href,
    close() {
      for (const server of behind) server.destroy();
      pooler.close();
    },
  };
}

it("by a pooled address keeps nobody from the next one", async () => {
  const { url: address, close } = await pooled();
  try {
    await migrate(address);
    const held = await service.sql(
      "select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
    );
    expect(held).toEqual([]);
    await migrate(address);
  } finally {
    close();
  }
});

/** Has `folder` hold the migrations that are shipped, up to this one. */
function shipTo(last: string): void {
  const shipped = fileURLToPath(new URL("../../../migrations", import.meta.url));
  const { entries } = JSON.parse(readFileSync(join(shipped, "meta/_journal.json"), "utf8")) as {
    entries: { tag: string }[];
  };
  cpSync(shipped, folder, { recursive: true });
  const end = entries.findIndex(({ tag }) => tag === last) + 1;
  writeFileSync(join(folder, "meta/_journal.json"), JSON.stringify({ entries: entries.slice(0, end) }));
}

/** An empty database. */
async function databaseOf(what: string): Promise<{ address: URL; name: string }> {
  const address = new URL(url);
  address.pathname += `_of_${what}`;
  const name = address.pathname.slice(1);
  await service.sql(`create database ${name}`);
  return { address, name };
}

/** SQL: makes three runs of one agent. */
const RUNS = `with u as (insert into users (email) values ('a@example.test') returning id),
    k as (insert into suites (slug, name) values ('core', 'core') returning id),
    a as (insert into agents (user_id, name, connection_mode) select id, 'A', 'http_endpoint' from u returning id),
    t as (insert into tasks (title, domain, prompt, output_format, grader, reference_cost_usd, reference_latency_ms, suite_id)
      select 'T', 'math', 'p', 'text', '{"type":"exact"}', 1, 1, id from k returning id)
  insert into runs (agent_id, task_id, domain, trigger, scope, status, suite_version)
  select a.id, t.id, 'math', 'manual', 'personal', 'running', 1 from a, t, generate_series(1, 3)`;

it("counts a run as asked that ended while such runs were counted for the first time", async () => {
  const { address, name } = await databaseOf("before");
  shipTo("0068_add_paid_back");
  await migrate(address.href, { folder });
  const clients = await Promise.all(Array.from({ length: 3 }, () => openClient(address.href)));
  const [reader, worker, other] = clients as [Client, Client, Client];
  /** Waits until so many statements wait for the tallies. */
  const heldBack = (waiting: number) =>
    other.query(`do $$ begin
      while (select count(*) from pg_locks where not granted and relation = 'run_tallies'::regclass) < ${waiting} loop perform pg_sleep(0.01); end loop;
    end $$`);
  try {
    await other.query(RUNS);
    const end = (client: Client) =>
      client.query(`update runs set status = 'completed', passed = true, correctness = 1, finalized_at = now()
        where id = (select id from runs where status = 'running' order by id limit 1 for update skip locked)`);
    const counted = async () => (await other.query("select runs::int, asked::int, version from run_tallies")).rows;
    await end(other);
    await reader.query("set deadlock_timeout = '10min'; begin; select from run_tallies");
    shipTo("0069_asked_evenly");
    const migrated = migrate(address.href, { folder, patience: 60_000 });
    await heldBack(1);
    const ended = end(worker);
    await heldBack(2);
    await reader.query("commit");
    await Promise.all([migrated, ended]);
    expect(await counted()).toEqual([{ runs: 2, asked: 1, version: 1 }]);
    await migrate(address.href);
    expect(await counted()).toEqual([{ runs: 2, asked: 2, version: 1 }]);
    await end(other);
    expect(await counted()).toEqual([{ runs: 3, asked: 3, version: 1 }]);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
    await service.sql(`drop database ${name} with (force)`);
  }
});

it("takes simulated runs out of the tallies of real ones, and their costs out of their days", async () => {
  const { address, name } = await databaseOf("simulated");
  const client = await openClient(address.href);
  try {
    shipTo("0072_same_tasks");
    await migrate(address.href, { folder });
    await client.query(RUNS);
    await client.query("update runs set simulated = true where id > (select min(id::text)::uuid from runs)");
    const end = (count: number) =>
      client.query(
        `update runs set status = 'completed', passed = simulated, correctness = 1, evidence_cost_usd = 0.25, finalized_at = now()
          where id in (select id from runs where status = 'running' order by id limit $1)`,
        [count],
      );
    await end(2);
    await migrate(address.href);
    await end(1);
    const { rows } = await client.query(
      "select simulated, runs::int, passed::int, cost_usd::float8, asked::int, version from run_tallies order by simulated",
    );
    expect(rows).toEqual([
      { simulated: false, runs: 1, passed: 0, cost_usd: 0.25, asked: 1, version: 1 },
      { simulated: true, runs: 2, passed: 2, cost_usd: 0.5, asked: 0, version: null },
    ]);
    const days = "select runs::int, passed::int, cost_usd::float8, costs::int from run_days";
    expect((await client.query(days)).rows).toEqual([{ runs: 3, passed: 2, cost_usd: 0.25, costs: 1 }]);
    await client.query("delete from runs where id = (select id from runs where simulated limit 1)");
    expect((await client.query(days)).rows).toEqual([{ runs: 2, passed: 1, cost_usd: 0.25, costs: 1 }]);
  } finally {
    await client.end();
    await service.sql(`drop database ${name} with (force)`);
  }
});
