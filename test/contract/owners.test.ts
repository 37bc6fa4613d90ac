import { describe, expect, test } from "vitest";
import { filesUnder, modules, partOf } from "./sources.ts";

const SCHEMA = "shared/db/schema/";

/** Each table and the part of the project that owns it: the one after which its file in the schema is called, up to a dot. */
const OWNERS = new Map(
  filesUnder("shared/db/schema").flatMap(({ path, text }) =>
    [...text.matchAll(/^export const (\w+) = lazyTable\(/gm)].map(
      ([, table = ""]) => [table, `shared/${path.slice(SCHEMA.length).split(".")[0]}`] as const,
    ),
  ),
);

/** A write in SQL, or by the query builder. */
const WRITE = /\b(?:insert into|update|delete from|merge into) \$\{(\w+)\}|\.(?:insert|update|delete)\((\w+)\)/g;

describe("the owner of a table", () => {
  test("is a part of the project", () => {
    const parts = new Set(modules().map(({ path }) => partOf(path)));
    expect([...new Set(OWNERS.values())].filter((owner) => !parts.has(owner))).toEqual([]);
    expect(OWNERS.size).toBeGreaterThan(40);
  });

  test("alone inserts, updates and deletes there", () => {
    const strangers = modules().flatMap(({ path, text }) =>
      [...text.matchAll(WRITE)].flatMap(([, inSql, built]) => {
        const table = inSql ?? built ?? "";
        const owner = OWNERS.get(table);
        return owner === undefined || owner === partOf(path) ? [] : [`${path} → ${table}`];
      }),
    );
    expect([...new Set(strangers)]).toEqual([]);
  });
});
