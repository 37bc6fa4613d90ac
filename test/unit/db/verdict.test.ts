import { sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { ALWAYS, telling, verdict } from "../../../shared/db/change.ts";
import { Problem } from "../../../shared/platform/problem.ts";

const dialect = new PgDialect();

describe("a verdict", () => {
  it("asks its conditions in their order, and is done where none holds", () => {
    const { sql: built, cases } = verdict({ forbidden: sql`not t.allowed`, full: sql`t.used >= ${5}` });
    expect(dialect.sqlToQuery(built)).toMatchObject({
      sql: "case when not t.allowed then 'forbidden' when t.used >= $1 then 'full' else 'done' end",
      params: [5],
    });
    expect(cases.toSorted()).toEqual(["forbidden", "full"]);
  });

  it("names the cases that the result gives later, without a condition for them", () => {
    const { sql: built, cases } = verdict({ forbidden: sql`not t.allowed` }, "taken");
    expect(dialect.sqlToQuery(built).sql).toBe("case when not t.allowed then 'forbidden' else 'done' end");
    expect(cases.toSorted()).toEqual(["forbidden", "taken"]);
  });

  it("that refuses nothing is always done", () => {
    expect(dialect.sqlToQuery(ALWAYS.sql).sql).toBe("'done'");
    expect(ALWAYS.cases).toEqual([]);
  });
});

describe("a refusal that tells details", () => {
  const refusal = telling(
    z.object({ used: z.int() }),
    ({ used }) => new Problem("quota_exceeded", `${used} are used.`, { members: { used } }),
  );

  it("reads them of the result, whatever else stands there", () => {
    expect(refusal({ outcome: "full", used: 5 })).toMatchObject({
      message: "5 are used.",
      extras: { members: { used: 5 } },
    });
  });

  it("throws where the result lacks them", () => {
    expect(() => refusal({ outcome: "full", used: null })).toThrow(z.ZodError);
  });
});
