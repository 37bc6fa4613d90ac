import { execFile } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openClient } from "../../stack/neon/connections.ts";
import { listen } from "../../stack/http.ts";
import { scratchFolder } from "../../stack/scratch.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { connect } from "./kept-support.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const KEYS = { DATA_ENCRYPTION_KEYS: `new:${Buffer.alloc(32).toString("base64")}` };
const DATABASE_COMMANDS = ["migrations/migrate.ts", "migrations/seed.ts", "migrations/reencrypt.ts"];

const folder = scratchFolder("screening-commands-");
let service: TestService;
let url: string;
/** A database beside the service's, which nothing was done to yet. */
let empty: URL;
/** An address where nobody answers. */
let nowhere: string;

beforeAll(async () => {
  service = await startService();
  const connection = await connect(service);
  url = connection.url;
  await connection.client.end();
  empty = new URL(url);
  empty.pathname += "_empty";
  await service.sql(`create database ${empty.pathname.slice(1)}`);
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  nowhere = `127.0.0.1:${(closed.address() as AddressInfo).port}`;
  closed.close();
});

afterAll(async () => {
  await service.sql(`drop database if exists ${empty.pathname.slice(1)} with (force)`);
  await service.stop();
  rmSync(folder, { recursive: true });
});

/** What a command says of its failure, which is all that it prints, and how it ends. */
function run(script: string, env: Record<string, string> = {}, ...args: string[]): Promise<[number, string]> {
  const { DATABASE_URL: _url, DATA_ENCRYPTION_KEYS: _keys, DATA_ENCRYPTION_KEY: _key, ...rest } = process.env;
  return new Promise((done) => {
    const options = { cwd: folder, env: { ...rest, ...env } };
    const child = execFile(process.execPath, [join(ROOT, script), ...args], options, (_error, stdout, stderr) =>
      done([child.exitCode ?? -1, stdout + stderr]),
    );
  });
}

/** One line that matches. */
const line = (what: RegExp) => expect.stringMatching(new RegExp(`^(?=.*${what.source}).*\n$`));

describe.each(DATABASE_COMMANDS)("%s", (script) => {
  const named = (port: string) => url.replace(/127\.0\.0\.1:\d+/, port);

  it("says in a line which setting is missing or malformed, never what is in it, and ends with 2", async () => {
    const cases: [Record<string, string>, RegExp][] = [
      [{}, /Set DATABASE_URL/],
      [{ DATABASE_URL: "" }, /Set DATABASE_URL/],
      [{ DATABASE_URL: "hunter2.example" }, /DATABASE_URL must start with postgres:/],
      [{ DATABASE_URL: "postgres://me:hunter2#@127.0.0.1/db" }, /DATABASE_URL .*percent-encode/],
    ];
    const said = await Promise.all(cases.map(([given]) => run(script, { ...KEYS, ...given })));
    expect(said).toEqual(cases.map(([, what]) => [2, line(what)]));
    expect(said.join()).not.toContain("hunter2");
  });

  it("says in a line why it does not reach the database, and what to look at, and ends with 1", async () => {
    const cases: [string, RegExp][] = [
      [named(nowhere), /ECONNREFUSED.*host and port of DATABASE_URL/],
      [`${url}_that_is_not_there`, /does not exist.*name at the end of DATABASE_URL/],
    ];
    const said = await Promise.all(cases.map(([address]) => run(script, { ...KEYS, DATABASE_URL: address })));
    expect(said).toEqual(cases.map(([, what]) => [1, line(what)]));
  });
});

describe.each(["migrations/seed.ts", "migrations/reencrypt.ts"])("%s", (script) => {
  it.each([
    [{}, /Set DATA_ENCRYPTION_KEYS/],
    [{ DATA_ENCRYPTION_KEYS: "new:c2hvcnQ=" }, /DATA_ENCRYPTION_KEYS: entry 1/],
  ])("ends with 2 where the keys are %j", async (keys, what) => {
    expect(await run(script, { DATABASE_URL: url, ...keys })).toEqual([2, line(what)]);
  });

  it("asks for the migrations, where the database has none", async () => {
    const said = line(/does not exist.*Then bring it up by npm run migrate/);
    expect(await run(script, { ...KEYS, DATABASE_URL: empty.href })).toEqual([1, said]);
  });
});

it("the migration that fails is named, with why, and is all that was not done", async () => {
  const client = await openClient(empty.href);
  try {
    await client.query("create table users (n int)");
    const [code, said] = await run("migrations/migrate.ts", { DATABASE_URL: empty.href });
    expect([code, said]).toEqual([1, line(/The migration 0000_foundation failed: .*"users" already exists/)]);
    await client.query("drop table users");
    expect(await run("migrations/migrate.ts", { DATABASE_URL: empty.href })).toEqual([0, line(/is up to date/)]);
  } finally {
    await client.end();
  }
});

it("a server that lets nobody in is given up", async () => {
  const mute = createServer().listen(0, "127.0.0.1");
  await once(mute, "listening");
  try {
    const { port } = mute.address() as AddressInfo;
    await expect(openClient(`postgres://me:me@127.0.0.1:${port}/db`, 1)).rejects.toThrow("timeout expired");
  } finally {
    mute.close();
  }
});

describe.each(["test/commands/audit-board.ts", "test/commands/log-monitor.ts"])("%s", (script) => {
  it.each(["127.0.0.1", "service", "ftp://127.0.0.1"])("asks for an address in place of %s", async (base) => {
    expect(await run(script, {}, base)).toEqual([2, line(/Give the service's address/)]);
  });

  it("says who does not answer, and why", async () => {
    const [code, said] = await run(script, {}, `http://${nowhere}`);
    expect([code, said]).toEqual([1, expect.stringMatching(/^http:.* does not answer: .*ECONNREFUSED/)]);
    expect(said).toContain("Is it running, and the address right?");
  });
});

it("the audit of what is no service asks whether it is one", async () => {
  const page = await listen(() => Promise.resolve({ status: 200, headers: {}, body: "<p>Welcome</p>" }));
  const said = line(/leaderboard.* is not what this service answers/);
  expect(await run("test/commands/audit-board.ts", {}, page.url)).toEqual([1, said]);
  await page.close();
});
