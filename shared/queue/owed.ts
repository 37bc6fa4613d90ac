import { type SQL, sql } from "drizzle-orm";
import { outbox } from "../db/schema/index.ts";

/**
 * SQL: a part of a statement that owes the queue one message for the row of `source` (a FROM clause); `body` is SQL of
 * type jsonb. Its rows are what `owed` collects.
 */
export function owe(consumer: string, id: string, body: SQL, source: SQL): SQL {
  return sql`insert into ${outbox} (consumer, id, body) select ${consumer}, ${id}::uuid, ${body} ${source}
    returning consumer, id, generation, body, flow_key, not_before`;
}

/** SQL: the messages that the named parts of the statement owe, as a JSON array for `flush`. */
export function owed(...parts: [string, ...string[]]): SQL {
  const rows = parts.map((part) => sql`select * from ${sql.identifier(part)}`);
  return sql`(select coalesce(jsonb_agg(to_jsonb(m)), '[]') from (${sql.join(rows, sql` union all `)}) m)`;
}
