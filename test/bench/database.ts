import { type SQL, sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import type { Context } from "../../shared/platform/context.ts";

/** A statement as the driver takes it. */
export interface Bound {
  text: string;
  params: unknown[];
}

/** The statement that a verb of the service reads by. `work` ends without an answer. */
export async function statementOf(ctx: Context, work: (ctx: Context) => Promise<unknown>): Promise<Bound> {
  let sent: SQL = sql``;
  const execute = async (statement: SQL) => {
    sent = statement;
    return { rows: [] };
  };
  await work(Object.create(ctx, { db: { value: { execute } } })).catch(() => undefined);
  const query = new PgDialect().sqlToQuery(sent);
  return { text: query.sql, params: query.params };
}

/** A bare reservation: as many rows as a batch makes, messages of ten runs each, without any rule, and the runs as JSON. */
export const RESERVATION = `with s as (
    insert into screening_sessions (agent_id, trigger, task_plan, repeats)
    select $1, 'manual', (select jsonb_agg(jsonb_build_object('task_id', id, 'suite_version', suite_version))
      from tasks where id = any($2::uuid[])), $3 returning id
  ), r as (
    insert into runs (agent_id, task_id, trigger, screening_session_id, position, repeat_index, repeat_total, scope)
    select $1, t.id, 'manual', s.id, t.ordinality, n, $3, 'personal'
    from s, unnest($2::uuid[]) with ordinality as t(id, ordinality), generate_series(1, $3::integer) n returning *
  ), o as (
    insert into outbox (consumer, id, body, flow_key)
    select 'dispatch', ids[1], jsonb_build_object('run_ids', ids), agent_id::text
    from (select agent_id, array_agg(id order by id) as ids
      from (select id, agent_id, (row_number() over (order by id) - 1) / 10 as part from r) n group by agent_id, part) g
  ) select jsonb_agg(to_jsonb(r)) as result from r`;
