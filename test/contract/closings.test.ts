import { PgDialect } from "drizzle-orm/pg-core";
import { describe, expect, test } from "vitest";
import { CLOSINGS } from "../../shared/closings/closings.ts";
import { belongsTo } from "../../shared/db/closing.ts";
import { MAX_CHUNKS } from "../../shared/identity/deletion/finalise.ts";
import { chunksOf } from "../../shared/identity/deletion/remove-content.ts";
import { personal } from "./personal.ts";
import { filesUnder, modules } from "./sources.ts";

const id = "00000000-0000-7000-8000-000000000000";
const closings = CLOSINGS.map((close) => close({ id, now: new Date(0), owns: belongsTo(id) }));

const dialect = new PgDialect();
const statements = closings
  .flatMap(({ parts = {}, ending = [], chunks = [], rest = [] }) => [
    ...Object.values(parts),
    ...[...ending, ...chunks].map((chunk) => chunk(null)),
    ...rest,
  ])
  .map((statement) => dialect.sqlToQuery(statement).sql);

/** The tables in which a closing deletes or changes rows. */
const closed = new Set(
  statements.flatMap((text) => [...text.matchAll(/\b(?:delete from|update) "(\w+)"/g)].map(([, table = ""]) => table)),
);

describe("the deletion of an account", () => {
  test("has a closing for every table with a person's data", () => {
    expect(personal.length).toBeGreaterThan(20);
    expect(personal.filter(({ name }) => !closed.has(name))).toEqual([]);
  });

  test("is composed of the closing of every domain that has one", () => {
    const files = modules().filter(({ text }) => /^export const closing: CloseDomain\b/m.test(text));
    expect(files.length).toBe(CLOSINGS.length);
    const [list] = filesUnder("shared/closings");
    expect(files.filter(({ path }) => list?.text.includes(`"../${path.slice("shared/".length)}"`) !== true)).toEqual(
      [],
    );
  });

  test("has no two parts of one name, and no part that owes without being there", () => {
    const names = closings.flatMap(({ parts = {} }) => Object.keys(parts));
    expect(new Set(names).size).toBe(names.length);
    expect(closings.flatMap(({ owes = [] }) => owes).filter((name) => !names.includes(name))).toEqual([]);
  });

  test("asks for every chunk in one piece, so that an account without rows is done with", () => {
    expect(chunksOf(closings).length).toBeLessThan(MAX_CHUNKS);
  });

  test.each(statements.filter((text) => text.includes(" as (")))("deals with its rows in chunks: %s", (text) => {
    expect(text).toContain("limit ");
    expect(text).toMatch(/\bdone as \(/);
  });
});
