import { eq, getTableColumns, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/pg-proxy";
import { getTableConfig, index, integer, PgDialect, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { describe, expect, it, vi } from "vitest";
import { lazyTable } from "../../../shared/db/lazy-table.ts";

const groups = pgTable("groups", { id: uuid().primaryKey() });
const columns = vi.fn(() => ({
  id: uuid().primaryKey(),
  name: text().notNull(),
  group_id: uuid().references(() => groups.id),
  size: integer().default(1),
}));
const things = lazyTable("things", columns, (table) => [index("things_name_idx").on(table.name)]);
const usual = pgTable("things", columns(), (table) => [index("things_name_idx").on(table.name)]);

const textOf = (query: ReturnType<typeof sql>) => new PgDialect().sqlToQuery(query).sql;

describe("a table whose columns are made when they are asked for", () => {
  it("makes none for a statement that names it", () => {
    columns.mockClear();
    expect(textOf(sql`select t.id from ${things} t`)).toBe('select t.id from "things" t');
    expect(columns).not.toHaveBeenCalled();
  });

  it("makes them once", () => {
    columns.mockClear();
    expect(textOf(sql`${things.id} = ${things.group_id}`)).toBe('"things"."id" = "things"."group_id"');
    expect(Object.keys(getTableColumns(things))).toEqual(["id", "name", "group_id", "size"]);
    expect(columns).toHaveBeenCalledTimes(1);
  });

  it("is to Drizzle the table that it declares", () => {
    const shown = (table: typeof things) => {
      const { name, columns: made, indexes, foreignKeys } = getTableConfig(table);
      return {
        name,
        columns: made.map((one) => [one.name, one.getSQLType(), one.notNull, one.primary, one.default]),
        indexes: indexes.map(({ config }) => config.name),
        references: foreignKeys.map((key) => key.reference().foreignColumns.map((one) => one.name)),
        keys: Object.keys(table),
      };
    };
    expect(shown(things)).toEqual(shown(usual));
    const db = drizzle(async () => ({ rows: [] }));
    const built = (table: typeof things) => db.select().from(table).where(eq(table.name, "a")).toSQL();
    expect(built(things)).toEqual(built(usual));
    const change = (table: typeof things) => db.update(table).set({ size: 2 }).where(eq(table.name, "a")).toSQL();
    expect(change(things)).toEqual(change(usual));
  });
});
