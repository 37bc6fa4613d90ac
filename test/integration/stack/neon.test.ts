import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { neon, neonConfig, NeonDbError } from "@neondatabase/serverless";
import { eq, sql as fragment } from "drizzle-orm";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { drizzle } from "drizzle-orm/neon-http";
import * as pgCore from "drizzle-orm/pg-core";
import * as fc from "fast-check";
import type { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createCounters } from "../../stack/counters.ts";
import { createFaults } from "../../stack/faults.ts";
import type { Listening } from "../../stack/http.ts";
import { openClient } from "../../stack/neon/connections.ts";
import { startNeonFront } from "../../stack/neon/front.ts";
import { type Postgres, startPostgres } from "../../stack/neon/postgres.ts";

const counters = createCounters();
const sql = neon("postgres://anyone:any-password@db.example.test/work");
let dir: string;
let postgres: Postgres;
let front: Listening;
let admin: Client;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "stack-neon-"));
  postgres = await startPostgres({ dir });
  await postgres.createDatabase("work");
  front = await startNeonFront({ resolve: postgres.url, faults: createFaults(), counters });
  // A service that ran in this worker before has left its own.
  neonConfig.fetchFunction = undefined;
  neonConfig.fetchEndpoint = () => `${front.url}/sql`;
  admin = await openClient(postgres.url("work"));
  await admin.query(`
    create type mood as enum ('glad', 'sad');
    create table parents (id int primary key);
    create table items (
      id int primary key,
      label text not null unique,
      amount int constraint items_amount_positive check (amount > 0),
      parent int references parents deferrable initially deferred
    )`);
});

afterAll(async () => {
  await admin.end();
  await front.close();
  await postgres.stop();
  await rm(dir, { recursive: true });
});

beforeEach(async () => {
  await admin.query("truncate items, parents; insert into items values (1, 'one', 1)");
  counters.reset();
});

describe("values, by Neon's driver", () => {
  test.each<[type: string, given: unknown, received: unknown]>([
    ["int2", -32768, -32768],
    ["int4", 2147483647, 2147483647],
    ["int8", "9223372036854775807", "9223372036854775807"],
    ["numeric", "12.50", "12.50"],
    ["float8", 0.1, 0.1],
    ["float8", "NaN", Number.NaN],
    ["bool", true, true],
    ["bool", false, false],
    ["text", "", ""],
    ["text", 'é☃𝄞 "\\\n', 'é☃𝄞 "\\\n'],
    ["uuid", "0191e0c0-0000-7000-8000-000000000000", "0191e0c0-0000-7000-8000-000000000000"],
    // Drizzle, below, tells the driver to leave times as the server's text.
    ["timestamptz", new Date("2026-01-02T03:04:05.678Z"), "2026-01-02 03:04:05.678+00"],
    ["date", "2026-01-02", "2026-01-02"],
    ["jsonb", { a: [1, null, "x"], b: { c: true } }, { a: [1, null, "x"], b: { c: true } }],
    ["bytea", Buffer.from([0, 255, 92, 10]), Buffer.from([0, 255, 92, 10])],
    ["text[]", ["a", 'b"c', "", null, "NULL"], ["a", 'b"c', "", null, "NULL"]],
    ["uuid[]", ["0191e0c0-0000-7000-8000-000000000000"], ["0191e0c0-0000-7000-8000-000000000000"]],
    ["int[]", [1, 2, 3], [1, 2, 3]],
    ["mood", "sad", "sad"],
    ["text", null, null],
  ])("a %s parameter comes back as it is: %j", async (type, given, received) => {
    const [row] = await sql.query(`select $1::${type} as value`, [given]);
    expect(row?.value).toEqual(received);
  });

  test("any text and any JSON comes back as it went", async () => {
    const text = fc.string({ unit: "binary" }).filter((value) => !value.includes("\0"));
    await fc.assert(
      fc.asyncProperty(text, fc.array(text), fc.jsonValue({ stringUnit: "grapheme" }), async (one, many, json) => {
        const [row] =
          await sql`select ${one}::text as one, ${many}::text[] as many, ${JSON.stringify(json)}::json as json`;
        expect(row).toEqual({ one, many, json: JSON.parse(JSON.stringify(json)) });
      }),
      { numRuns: 50 },
    );
  });

  test("fields, command and number of rows are told", async () => {
    const full = { fullResults: true } as const;
    const written = await sql.query("update items set amount = 2 returning id, label", [], full);
    expect(written).toMatchObject({ command: "UPDATE", rowCount: 1, rows: [{ id: 1, label: "one" }] });
    expect(written.fields.map(({ name, dataTypeID }) => [name, dataTypeID])).toEqual([
      ["id", 23],
      ["label", 25],
    ]);
    expect(await sql.query("select 1 where false", [], full)).toMatchObject({
      command: "SELECT",
      rowCount: 0,
      rows: [],
    });
  });

  test("nine megabytes go in and out", async () => {
    const large = "x".repeat(9_000_000);
    const [row] = await sql`select ${large}::text as value`;
    expect(row?.value === large).toBe(true);
  });
});

const bytea = pgCore.customType<{ data: Buffer }>({ dataType: () => "bytea" });
const mood = pgCore.pgEnum("mood", ["glad", "sad"]);
const kinds = pgCore.pgTable("kinds", {
  int2: pgCore.smallint().primaryKey(),
  int4: pgCore.integer(),
  int8: pgCore.bigint({ mode: "bigint" }),
  numeric: pgCore.numeric(),
  float8: pgCore.doublePrecision(),
  bool: pgCore.boolean(),
  text: pgCore.text(),
  uuid: pgCore.uuid(),
  timestamptz: pgCore.timestamp({ withTimezone: true }),
  date: pgCore.date(),
  jsonb: pgCore.jsonb(),
  bytea: bytea(),
  texts: pgCore.text().array(),
  uuids: pgCore.uuid().array(),
  ints: pgCore.integer().array(),
  mood: mood(),
});
const items = pgCore.pgTable("items", {
  id: pgCore.integer().primaryKey(),
  label: pgCore.text().notNull(),
  amount: pgCore.integer(),
  parent: pgCore.integer(),
});

describe("drizzle over neon-http", () => {
  const db = drizzle({ client: sql });

  test("writes and reads every type, and null for each", async () => {
    await admin.query(`
      create table kinds (int2 int2 primary key, int4 int4, int8 int8, numeric numeric, float8 float8, bool bool, text text,
        uuid uuid, timestamptz timestamptz, date date, jsonb jsonb, bytea bytea, texts text[], uuids uuid[], ints int[],
        mood mood)`);
    const row = {
      int2: 1,
      int4: -5,
      int8: 9_007_199_254_740_993n,
      numeric: "0.10",
      float8: 1e-7,
      bool: true,
      text: "naïve",
      uuid: "0191e0c0-0000-7000-8000-000000000000",
      timestamptz: new Date("2026-01-02T03:04:05.678Z"),
      date: "2026-01-02",
      jsonb: { nested: [1, "two", null] },
      bytea: Buffer.from([0, 1, 254, 255]),
      texts: ["a,b", 'c"d', ""],
      uuids: ["0191e0c0-0000-7000-8000-000000000000"],
      ints: [3, 2, 1],
      mood: "glad" as const,
    };
    expect(await db.insert(kinds).values(row).returning()).toEqual([row]);
    const nulls = { ...Object.fromEntries(Object.keys(row).map((name) => [name, null])), int2: 2 };
    await db.insert(kinds).values({ int2: 2 });
    expect(await db.select().from(kinds).orderBy(kinds.int2)).toEqual([row, nulls]);
  });

  test("a failed statement is a DrizzleQueryError with the code and constraint in its cause", async () => {
    const failed = db.insert(items).values({ id: 2, label: "one" }).execute();
    await expect(failed).rejects.toThrow(DrizzleQueryError);
    await expect(failed).rejects.toMatchObject({ cause: { code: "23505", constraint: "items_label_key" } });
  });

  test("a failed batch is a bare NeonDbError, and nothing of it stays", async () => {
    const batch = db.batch([
      db.insert(items).values({ id: 2, label: "two" }),
      db.insert(items).values({ id: 3, label: "one" }),
    ]);
    await expect(batch).rejects.toThrow(NeonDbError);
    await expect(batch).rejects.toMatchObject({ code: "23505" });
    expect(await db.$count(items)).toBe(1);
  });

  test("a batch gives each statement's rows, and a statement may change data in a CTE", async () => {
    const added = fragment`with added as (insert into items values (2, 'two', 2) returning id) select id from added`;
    const [, , rest] = await db.batch([
      db.execute(added),
      db.update(items).set({ amount: 9 }).where(eq(items.id, 2)),
      db.select({ id: items.id, amount: items.amount }).from(items).orderBy(items.id),
    ]);
    expect(rest).toEqual([
      { id: 1, amount: 1 },
      { id: 2, amount: 9 },
    ]);
  });
});

describe("errors, by Neon's driver", () => {
  test.each([
    [
      "a duplicate",
      "insert into items values (2, 'one')",
      {
        code: "23505",
        constraint: "items_label_key",
        table: "items",
        schema: "public",
        detail: "Key (label)=(one) already exists.",
      },
    ],
    [
      "a failed check",
      "insert into items values (2, 'two', 0)",
      { code: "23514", constraint: "items_amount_positive" },
    ],
    ["a missing value", "insert into items (id) values (2)", { code: "23502", column: "label" }],
    [
      "an unknown parent",
      "insert into items values (2, 'two', 1, 7)",
      { code: "23503", constraint: "items_parent_fkey" },
    ],
    ["bad syntax", "selec 1", { code: "42601", position: "1", severity: "ERROR" }],
    ["an unknown function", "select nothing_here()", { code: "42883", hint: expect.any(String) }],
    ["two statements in one", "select 1; select 2", { code: "42601" }],
  ])("%s is a NeonDbError with what Postgres says of it", async (_, statement, expected) => {
    // The driver's own promise sends its statement each time that somebody awaits it.
    const failed = Promise.resolve(sql.query(statement));
    await expect(failed).rejects.toThrow(NeonDbError);
    await expect(failed).rejects.toMatchObject(expected);
    expect(await sql`select id from items`).toEqual([{ id: 1 }]);
  });

  test("an unknown database is one, too", async () => {
    const elsewhere = neon("postgres://anyone:any-password@db.example.test/nowhere");
    await expect(elsewhere`select 1`).rejects.toMatchObject({ code: "3D000" });
  });

  test.each([
    ["no connection string", { "Content-Type": "application/json" }, '{"query":"select 1"}'],
    ["a body that is no JSON", { "Neon-Connection-String": "postgres://a:b@c/work" }, "select 1"],
    ["a body without a query", { "Neon-Connection-String": "postgres://a:b@c/work" }, '{"params":[]}'],
  ])("%s is a 400 that says so", async (_, headers, body) => {
    const response = await fetch(`${front.url}/sql`, { method: "POST", headers, body });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ message: expect.stringMatching(/Connection-String|body/) });
    expect(counters.db).toEqual({ requests: 1, statements: 0 });
  });
});
