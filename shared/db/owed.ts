import { type SQL, sql } from "drizzle-orm";
import { outbox } from "./schema/index.ts";

/** SQL: the columns of an owed message that `owed` collects and `flush` sends: what a part that owes some returns. */
export const MESSAGE: SQL = sql`consumer, id, generation, body, flow_key, not_before`;

/**
 * SQL: a part of a statement that owes the queue a message for each row of `source` (a FROM clause); `body` is SQL of
 * type jsonb, and of several rows `id` is SQL too. Its rows are what `owed` collects.
 */
export function owe(consumer: string, id: string | SQL, body: SQL, source: SQL): SQL {
  return sql`insert into ${outbox} (consumer, id, body) select ${consumer}, ${id}::uuid, ${body} ${source}
    returning ${MESSAGE}`;
}

/**
 * SQL: a part of a statement that owes the queue a message for each row of `source`, a query of the columns `id`,
 * `generation`, `body`, `flow_key` and `not_before`. One that is still owed about the same thing gives way to it and is
 * tried as if for the first time. Its rows are what `owed` collects.
 */
export function oweAnew(consumer: string, source: SQL): SQL {
  return sql`insert into ${outbox} (consumer, id, generation, body, flow_key, not_before)
    select ${consumer}, id, generation, body, flow_key, not_before from (${source}) m
    on conflict (consumer, id) do update set generation = excluded.generation, body = excluded.body,
      flow_key = excluded.flow_key, not_before = excluded.not_before, attempts = 0, due_at = excluded.due_at
    returning ${MESSAGE}`;
}

/** SQL: a part of a statement that takes back what is owed about the things whose `id` the rows of the part `about` have. */
export function takeBack(about: SQL): SQL {
  return sql`delete from ${outbox} o using ${about} about where o.id = about.id`;
}

/** SQL: the messages that the named parts of the statement owe, as a JSON array for `flush`. */
export function owed(...parts: [string, ...string[]]): SQL {
  const rows = parts.map((part) => sql`select * from ${sql.identifier(part)}`);
  return sql`(select coalesce(jsonb_agg(to_jsonb(m)), '[]') from (${sql.join(rows, sql` union all `)}) m)`;
}
