import { type SQL, sql } from "drizzle-orm";

/** SQL: a query of these ids, of any number of them in one parameter. */
export function idsOf(ids: Iterable<string>): SQL {
  return sql`select jsonb_array_elements_text(${JSON.stringify([...ids])}::jsonb)::uuid`;
}
