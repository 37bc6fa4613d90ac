import { is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import * as schema from "../../shared/db/schema/index.ts";

/** Columns that name a person, or an account, without a foreign key. */
const NAMING = /^(?:email|caller|owner|paid_owner)$/;

/** Each table with a person's data, and the columns that make it one. */
export const personal = Object.values(schema)
  .filter((value) => is(value, PgTable))
  .map((table) => {
    const { name, columns, foreignKeys } = getTableConfig(table);
    const referring = foreignKeys
      .map((key) => key.reference())
      .filter(({ foreignTable }) => getTableConfig(foreignTable).name === "users")
      .flatMap((reference) => reference.columns);
    const naming = columns.filter((column) => NAMING.test(column.name));
    return { name, because: [...naming, ...referring].map((column) => column.name) };
  })
  .filter(({ because }) => because.length > 0);
