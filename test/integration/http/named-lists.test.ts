import { sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { placeOf } from "../../../shared/db/listing.ts";
import { FEW, LOOKED_THROUGH, namedParts, SCOUTED } from "../../../shared/db/names.ts";
import { startService, type TestService } from "../../stack/service.ts";

const COUNTED_TO = 100;
const PAGE = { page: 1, page_size: 20 };
const dialect = new PgDialect();

let service: TestService;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

/** What a page of a list of `size` rows shows in which those at these places, counted from 1, are called so. */
async function found(size: number, places: readonly number[], page: { page: number; page_size: number }) {
  const list = sql`(select n as place, case when n = any (${sql.param(places)}::integer[]) then 'Wanted' else 'Other' end as name
    from generate_series(1, ${size}::integer) n) l`;
  const parts = namedParts(
    {
      q: "want",
      order: sql`place`,
      columns: sql`place`,
      inOrder: (cut, named) => sql`select place, ${named(sql`name`)} as is_named from ${list} ${cut}`,
      byName: (named) => sql`select place from ${list} where ${named(sql`name`)}`,
    },
    placeOf(page),
  );
  const statement = dialect.sqlToQuery(
    sql`with ${parts} select (select n from counted) as n, array(select place from paged order by place) as places`,
  );
  const [row] = await service.sql<{ n: string; places: number[] }>(statement.sql, statement.params);
  return { total: Number(row?.n), places: row?.places };
}

const L = LOOKED_THROUGH;
const S = SCOUTED;
const range = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);

it.each<[what: string, size: number, places: number[]]>([
  ["nobody is called so", 3 * L, []],
  ["nobody is, and the list ends before it is looked through", L - 1, []],
  ["the last row that is looked at is", L, [L]],
  ["the last one is, and others beyond", L + 50, [L, L + 1, L + 50]],
  ["those beyond alone are", 2 * L, range(L + 1, 40)],
  ["a page is, early", 2 * L, range(1, 20)],
  ["all that are counted are, the last of them as the last row looked at", 2 * L, [...range(1, COUNTED_TO), L, L + 9]],
  ["one fewer than are counted, and one beyond", 2 * L, [...range(5, COUNTED_TO - 1), L + 1]],
  ["everybody is", 2 * L, range(1, 2 * L)],
  ["a few are in the first stretch and more beyond", 2 * L, [...range(S - FEW + 2, FEW), 2 * L]],
  ["one more is in the first stretch, and others beyond all that is looked through", 2 * L, [...range(3, FEW), L + 1]],
  ["one more is there, the last of them as its last row, and others follow", 2 * L, range(S - FEW + 1, 2 * FEW)],
  ["the list ends with the first stretch", S, range(S - 1, 2)],
  ["the list ends before the first stretch does", S - 1, range(1, FEW)],
])("a search by name finds what a filter finds, where %s", async (_what, size, places) => {
  for (const page of [PAGE, { page: 2, page_size: 20 }, { page: 3, page_size: 60 }]) {
    const { page: number, page_size: wide } = page;
    const { total, places: shown } = await found(size, places, page);
    expect(shown).toEqual(places.slice((number - 1) * wide, number * wide));
    expect(Math.min(total, COUNTED_TO + 1)).toBe(Math.min(places.length, COUNTED_TO + 1));
  }
});

it("stops looking once there are enough of the name", async () => {
  const plan = dialect.sqlToQuery(
    sql`explain (analyze, format json) with ${namedParts(
      {
        q: "want",
        order: sql`id`,
        columns: sql`id`,
        inOrder: (cut, named) => sql`select id, ${named(sql`title`)} as is_named from many ${cut}`,
        byName: (named) => sql`select id from many where ${named(sql`title`)}`,
      },
      placeOf(PAGE),
    )} select * from paged`,
  );
  await service.sql("create table many as select n as id, 'Wanted' as title from generate_series(1, 20000) n");
  await service.sql("create index on many (id)");
  await service.sql("analyze many");
  const [row] = await service.sql<{ "QUERY PLAN": unknown }>(plan.sql, plan.params);
  const read = [...JSON.stringify(row?.["QUERY PLAN"]).matchAll(/"Actual Rows":(\d+)/g)].map(([, rows]) =>
    Number(rows),
  );
  expect(Math.max(...read)).toBeLessThan(2 * COUNTED_TO);
});
