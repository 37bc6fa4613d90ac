import type { BuildColumns, BuildExtraConfigColumns } from "drizzle-orm";
import {
  type PgColumnBuilderBase,
  PgTable,
  pgTable,
  type PgTableExtraConfigValue,
  type PgTableWithColumns,
} from "drizzle-orm/pg-core";

/** What Drizzle keeps in a table that stands on its columns. */
const OF_COLUMNS: ReadonlySet<string | symbol> = new Set(
  ["Columns", "ExtraConfigColumns", "ExtraConfigBuilder", "PgInlineForeignKeys", "EnableRLS"].map((name) =>
    Symbol.for(`drizzle:${name}`),
  ),
);

/**
 * A table as `pgTable` declares it, whose columns are made when one is first asked for. Nearly every statement names its
 * tables alone, and to make the columns of all that are loaded with a request took a sixth of what its first one waits.
 */
export function lazyTable<Name extends string, Columns extends Record<string, PgColumnBuilderBase>>(
  name: Name,
  columns: () => Columns,
  extraConfig?: (self: BuildExtraConfigColumns<Name, Columns, "pg">) => PgTableExtraConfigValue[],
): PgTableWithColumns<{
  name: Name;
  schema: undefined;
  columns: BuildColumns<Name, Columns, "pg">;
  dialect: "pg";
}>;
export function lazyTable(
  name: string,
  columns: () => Record<string, PgColumnBuilderBase>,
  extraConfig?: (
    self: BuildExtraConfigColumns<string, Record<string, PgColumnBuilderBase>, "pg">,
  ) => PgTableExtraConfigValue[],
): PgTable {
  let made: PgTable | undefined;
  const whole = (): PgTable => (made ??= pgTable(name, columns(), extraConfig));
  return new Proxy(new PgTable(name, undefined, name), {
    get: (named, key) => Reflect.get(key in named && !OF_COLUMNS.has(key) ? named : whole(), key),
    has: (named, key) => key in named || key in whole(),
    ownKeys: () => Reflect.ownKeys(whole()),
    getOwnPropertyDescriptor: (_named, key) => Reflect.getOwnPropertyDescriptor(whole(), key),
  });
}
