import { type SQL, sql } from "drizzle-orm";

/** SQL: a JSON object of columns of the row `alias`. */
export function columnsJson(alias: string, columns: readonly string[]): SQL {
  // In chunks: a PostgreSQL function takes at most 100 arguments.
  const pieces: SQL[] = [];
  for (let i = 0; i < columns.length; i += 40) {
    const pairs = columns
      .slice(i, i + 40)
      .map((name) => sql.join([sql.raw(`'${name}'`), sql`${sql.identifier(alias)}.${sql.identifier(name)}`], sql`, `));
    pieces.push(sql`jsonb_build_object(${sql.join(pairs, sql`, `)})`);
  }
  return sql`(${sql.join(pieces, sql` || `)})`;
}
