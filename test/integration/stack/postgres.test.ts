import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openClient, openPool } from "../../stack/neon/connections.ts";
import { removeData } from "../../stack/neon/postgres-files.ts";
import { type Postgres, startPostgres } from "../../stack/neon/postgres.ts";

// Long enough for a loaded machine; what is waited for comes within milliseconds.
const PATIENCE = { timeout: 20_000 };

async function query(url: string, text: string): Promise<unknown[][]> {
  const client = await openClient(url);
  try {
    return (await client.query({ text, rowMode: "array" })).rows;
  } finally {
    await client.end();
  }
}

describe("the local Postgres", () => {
  let dir: string;
  let postgres: Postgres;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "stack-postgres-"));
    postgres = await startPostgres({ dir });
  });

  afterAll(async () => {
    await postgres.stop();
    await rm(dir, { recursive: true });
  });

  test("is version 18, in UTF-8, sorts by code point, tells time in UTC and survives the kill of a process", async () => {
    const settings = ["server_version_num", "server_encoding", "TimeZone", "full_page_writes", "synchronous_commit"];
    const [row] = await query(
      postgres.adminUrl,
      `select ${settings.map((name) => `current_setting('${name}')`).join()}`,
    );
    expect(row).toEqual([expect.stringMatching(/^18/), "UTF8", "UTC", "on", "on"]);
    const sorted = await query(
      postgres.adminUrl,
      "select * from (values ('b'), ('B'), ('a'), ('é')) as v(x) order by x",
    );
    expect(sorted.flat()).toEqual(["B", "a", "b", "é"]);
  });

  test("has no connection of a pool left once that is closed, and cuts idle ones without ending the process", async () => {
    await postgres.createDatabase("pooled");
    const { pool, close } = openPool({ connectionString: postgres.url("pooled"), max: 20 });
    const pids = async () =>
      (await query(postgres.adminUrl, "select pid from pg_stat_activity where datname = 'pooled'")).flat();
    const all = () => Promise.all(Array.from({ length: 20 }, () => pool.query("select pg_sleep(0.01)")));
    await all();
    // What PostgreSQL does to them where their database is dropped: an error that nobody hears ends the process.
    await query(
      postgres.adminUrl,
      `select pg_terminate_backend(p, 5000) from unnest(array[${(await pids()).join()}]) p`,
    );
    await all();
    expect(await pids()).not.toEqual([]);
    await close();
    expect(await pids()).toEqual([]);
  });

  test("cuts a single client, and another that is ending, without ending the process", async () => {
    await postgres.createDatabase("left");
    const [idle, ending] = await Promise.all([openClient(postgres.url("left")), openClient(postgres.url("left"))]);
    await Promise.all([ending.end(), postgres.dropDatabase("left")]);
    await expect(idle.query("select 1")).rejects.toThrow(/terminat|not queryable/);
    await idle.end();
  });

  test("listens on the loopback address only, and on no socket file", async () => {
    const [row] = await query(
      postgres.adminUrl,
      "select current_setting('listen_addresses'), current_setting('unix_socket_directories')",
    );
    expect(row).toEqual(["127.0.0.1", ""]);
  });

  test("creates a database as a copy of a template, and drops one that somebody is connected to", async () => {
    await postgres.createDatabase("a template");
    await query(postgres.url("a template"), "create table t as select 42 as answer");
    await postgres.createDatabase('"copy"', "a template");
    expect(await query(postgres.url('"copy"'), "select answer from t")).toEqual([[42]]);

    const connected = await openClient(postgres.url('"copy"'));
    const failures: string[] = [];
    connected.on("error", (error) => failures.push(error.message));
    await postgres.dropDatabase('"copy"');
    await expect.poll(() => failures, PATIENCE).toContain("terminating connection due to administrator command");
    await expect(query(postgres.url('"copy"'), "select 1")).rejects.toMatchObject({ code: "3D000" });
    await postgres.dropDatabase('"copy"');
  });

  test("refuses a second server on the same data while the owner of the first lives, and leaves that alone", async () => {
    await expect(startPostgres({ dir })).rejects.toThrow(`process ${process.pid} already runs Postgres`);
    expect(await query(postgres.adminUrl, "select 1")).toEqual([[1]]);
  });
});

describe("the data of the local Postgres", () => {
  const script = `
    import { startPostgres } from ${JSON.stringify(new URL("../../stack/neon/postgres.ts", import.meta.url).href)};
    const postgres = await startPostgres({ dir: process.argv[1] });
    process.stdout.write(postgres.adminUrl);
    setInterval(() => {}, 60_000);`;
  const cwd = fileURLToPath(new URL("../../..", import.meta.url));
  let dir: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "stack-postgres-"));
  });

  afterAll(() => rm(dir, { recursive: true }));

  async function startElsewhere() {
    const owner = spawn(process.execPath, ["--input-type=module", "-e", script, dir], {
      cwd,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [adminUrl] = await once(owner.stdout, "data");
    return { owner, adminUrl: String(adminUrl) };
  }

  test("are there after an orderly stop and a new start", async () => {
    const first = await startPostgres({ dir });
    await query(first.adminUrl, "create table kept as select 0 as n");
    await first.stop();
    const second = await startPostgres({ dir });
    expect(await query(second.adminUrl, "select n from kept")).toEqual([[0]]);
    await second.stop();
  });

  test("are there, and open to a new start, after the owner was killed and the server left running", async () => {
    const { owner, adminUrl } = await startElsewhere();
    await query(adminUrl, "insert into kept values (1)");
    owner.kill("SIGKILL");
    await once(owner, "exit");
    expect(await query(adminUrl, "select count(*)::int from kept")).toEqual([[2]]);

    const next = await startPostgres({ dir });
    expect(await query(next.adminUrl, "select n from kept order by n")).toEqual([[0], [1]]);
    await expect(query(adminUrl, "select 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await next.stop();
  });

  test("are there after owner and server were both killed", async () => {
    const { owner, adminUrl } = await startElsewhere();
    await query(adminUrl, "insert into kept values (2)");
    owner.kill("SIGKILL");
    await once(owner, "exit");
    const [[pid] = []] = await query(adminUrl, "select pg_read_file('postmaster.pid')");
    process.kill(Number.parseInt(String(pid), 10), "SIGKILL");

    const next = await startPostgres({ dir });
    expect(await query(next.adminUrl, "select n from kept order by n")).toEqual([[0], [1], [2]]);
    await next.stop();
  });

  test("are gone once they are removed, wherever they lie", async () => {
    const closed = await mkdtemp(join(tmpdir(), "stack-closed-"));
    const folder = join(closed, "postgres");
    const server = await startPostgres({ dir: folder });
    const [[data] = []] = await query(server.adminUrl, "show data_directory");
    await server.stop();
    expect(existsSync(String(data))).toBe(true);
    await removeData(folder);
    expect([data, folder].map((path) => existsSync(String(path)))).toEqual([false, false]);
    await rm(closed, { recursive: true });
  });
});
