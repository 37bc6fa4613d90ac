import { type SQL, sql } from "drizzle-orm";
import { outbox } from "./schema/index.ts";

/** SQL: the columns of an owed message that `owed` collects and `flush` publishes; a part that owes messages returns them. */
export const MESSAGE: SQL = sql`consumer, id, generation, body, flow_key, not_before`;

/**
 * SQL: a generation that no message about the same thing had: without it the queue would take one that is owed anew for a
 * duplicate of the one before. Drawn, since the time is not enough: of two statements made in one millisecond, the second
 * may wait until the first one's message has been taken.
 */
export const DRAWN: SQL = sql`floor(random() * 2147483647)::integer`;

/**
 * SQL: a part of a statement that owes the queue a message for each row of `source` (a FROM clause), about something for
 * which no message was owed before; `body` is SQL of type jsonb, and where `source` has several rows `id` is SQL too.
 * Messages with the same `flowKey` (SQL of type text), or all without one, are delivered within the limits of their consumer.
 * `owed` collects the part's rows.
 */
export function owe(consumer: string, id: string | SQL, body: SQL, source: SQL, flowKey = sql`null`): SQL {
  return sql`insert into ${outbox} (consumer, id, body, flow_key) select ${consumer}, ${id}::uuid, ${body}, ${flowKey}
    ${source} returning ${MESSAGE}`;
}

/**
 * SQL: a part of a statement that owes the queue a message for each row of `source`, a query of the columns `id`,
 * `generation`, `body`, `flow_key` and `not_before`; where they are for several consumers, `consumer` is SQL over it. It
 * replaces a message that is still owed about the same thing: its attempts start anew, and it is due as if it were the
 * first. `owed` collects the part's rows.
 */
export function oweAnew(consumer: string | SQL, source: SQL): SQL {
  return sql`insert into ${outbox} (consumer, id, generation, body, flow_key, not_before)
    select ${consumer}, id, generation, body, flow_key, not_before from (${source}) m
    on conflict (consumer, id) do update set generation = excluded.generation, body = excluded.body,
      flow_key = excluded.flow_key, not_before = excluded.not_before, attempts = 0, due_at = excluded.due_at
    returning ${MESSAGE}`;
}

/**
 * SQL: the part `name`, and one that it stands on, which owe the queue a message for each row of `source`, a query of the
 * columns `id`, `generation`, `body` and `flow_key`. Where a message about the same thing is still owed, that one keeps its
 * place and only gets the new body: so the row is locked, and whoever takes it sees what this statement did. The rows of
 * `name` are the messages that were not owed before; they belong into `hands`, since the consumer deletes them.
 */
export function oweUnlessOwed(name: string, consumer: string, source: SQL): SQL {
  const all = sql.identifier(`${name}_or_owed`);
  return sql`${all} as (
    insert into ${outbox} (consumer, id, generation, body, flow_key)
    select ${consumer}, id, generation, body, flow_key from (${source}) m order by id
    on conflict (consumer, id) do update set body = excluded.body
    returning ${MESSAGE}, old.id is null as is_new
  ), ${sql.identifier(name)} as (select ${MESSAGE} from ${all} where is_new)`;
}

/**
 * SQL: a statement that waits for whoever owes the messages about `ids` (a query of ids) at the moment, so that the next one
 * sees what they did.
 */
export function lockOwed(consumer: string, ids: SQL): SQL {
  return sql`select from ${outbox} where consumer = ${consumer} and id in (${ids}) order by id for update`;
}

/**
 * SQL: a part of a statement that withdraws the messages to these consumers about `ids` (SQL of an id, or a query of ids):
 * there is nothing left to do, or it is being done. `where` is a condition over the message `o`.
 */
export function takeBack(consumers: readonly [string, ...string[]], ids: SQL, where = sql`true`): SQL {
  const names = consumers.map((consumer) => sql`${consumer}`);
  return sql`delete from ${outbox} o where o.consumer in (${sql.join(names, sql`, `)}) and o.id in (${ids}) and ${where}`;
}

/** SQL: the messages that the named parts of the statement owe, as a JSON array for `flush`. */
export function owed(...parts: [string, ...string[]]): SQL {
  const rows = parts.map((part) => sql`select * from ${sql.identifier(part)}`);
  return sql`(select coalesce(jsonb_agg(to_jsonb(m)), '[]') from (${sql.join(rows, sql` union all `)}) m)`;
}
