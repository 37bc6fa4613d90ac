import { sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase, databaseFailure } from "../../../shared/db/client.ts";
import { kept } from "../../../shared/db/kept.ts";
import type { Database } from "../../../shared/platform/context.ts";
import { templateOf } from "../../../shared/suites/minted.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addSuite, answersRightly, quietQueueClient, startAgent } from "../runs/support.ts";

/** The statements that take up runs, keep what came, load it, end it, and sum up cells and entries. */
const OF_A_RUN = 6;
const CONNECTIONS = 40;

interface Plan {
  name: string;
  custom_plans: string;
  generic_plans: string;
}

let service: TestService;
let db: Database;
let endpoint: Consumer;

beforeAll(async () => {
  service = await startService();
  db = createDatabase(service.settings["DATABASE_URL"] ?? "", service.settings["NEON_LOCAL_PROXY"]);
  endpoint = await startAgent(answersRightly);
  quietQueueClient();
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

/** What the connections of the service keep, each in its row. */
async function plans(): Promise<Plan[]> {
  const look = async () =>
    (
      await db.execute<{ found: Plan[] }>(
        sql`select coalesce(jsonb_agg(to_jsonb(p)), '[]') as found from pg_prepared_statements p where name like 'kept%'`,
      )
    ).rows;
  const rows = await Promise.all(Array.from({ length: CONNECTIONS }, look));
  return rows.flat().flatMap(({ found }) => found);
}

async function result(statement: Parameters<typeof kept>[0]): Promise<unknown> {
  return (await db.execute<{ result: unknown }>(kept(statement))).rows[0]?.result;
}

describe("the statements of a run", () => {
  it("are the same few texts for whatever runs, and planned once by a connection", async () => {
    const owner = await newUser(service, { plan: "enterprise" });
    for (const tasks of [1, 5]) {
      const suite = await addSuite(service, tasks);
      const agent_id = await addAgent(owner, { endpoint: endpoint.url });
      await owner.call("POST", "/api/v1/runs/batch", { agent_id, suite_id: suite.id, repeats: 4 });
      await service.settled();
      await owner.call("POST", "/api/v1/runs", { agent_id, task_id: suite.tasks[0], is_private: true });
      await service.settled();
    }
    const found = await plans();
    expect(new Set(found.map(({ name }) => name)).size).toBe(OF_A_RUN);
    expect(found.map(({ custom_plans }) => Number(custom_plans))).toEqual(found.map(() => 0));
    expect(Math.max(...found.map(({ generic_plans }) => Number(generic_plans)))).toBeGreaterThan(1);
  });
});

it("of the list of templates no run sends anything but a part of the text", () => {
  const { sql: text, params } = new PgDialect().sqlToQuery(templateOf);
  expect(params).toEqual([]);
  expect(text).toContain('"core-');
});

describe("a kept statement", () => {
  it("gets every parameter as it was given", async () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }).filter((value) => !value.includes("\0")),
      fc.constantFrom("", "null", "NULL", "'", "''", "\\", "\\'", "{}", '{"a"}', "%I", "$1", "a,b", " "),
    );
    await fc.assert(
      fc.asyncProperty(fc.option(text), text, fc.integer({ min: -1e9, max: 1e9 }), fc.boolean(), async (...values) => {
        const [a, b, n, yes] = values;
        const all = sql`select jsonb_build_array(${a}::text, ${b}::text, ${n}::integer, ${yes}::boolean) as result`;
        expect(await result(all)).toEqual(values);
      }),
      { numRuns: 60 },
    );
  });

  it("refuses a parameter that is neither text, number nor boolean", () => {
    expect(() => kept(sql`select ${sql.param({})}`)).toThrow(TypeError);
  });

  it("needs no parameter, and selects null where there is no row", async () => {
    expect(await result(sql`select '1'::jsonb as result`)).toBe(1);
    expect(await result(sql`select '1'::jsonb as result where false`)).toBeNull();
  });

  it("fails with the database's own code, and works the next time", async () => {
    const inverse = (n: number) => result(sql`select to_jsonb(1 / ${n}::integer) as result`);
    const failure = await inverse(0).catch((error: unknown) => error);
    expect(databaseFailure(failure)?.code).toBe("22012");
    expect(await inverse(1)).toBe(1);
  });

  it("follows a table that changes under it", async () => {
    await service.sql("create table changing as select 1 as a");
    const all = () => result(sql`select jsonb_agg(to_jsonb(c)) as result from changing c`);
    expect(await all()).toEqual([{ a: 1 }]);
    await service.sql("alter table changing add column b integer default 2");
    expect(await all()).toEqual([{ a: 1, b: 2 }]);
    await service.sql("drop table changing");
    await service.sql("create table changing as select 3 as d");
    expect(await all()).toEqual([{ d: 3 }]);
  });
});
