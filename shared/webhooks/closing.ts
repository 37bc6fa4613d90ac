import { type SQL, sql } from "drizzle-orm";
import { goes } from "../agents/closing.ts";
import { CHUNK, type CloseDomain } from "../db/closing.ts";
import { agents, webhook_deliveries, webhook_events, webhooks } from "../db/schema/index.ts";

/**
 * Switches the account's subscriptions off and forgets where they led, and then deletes them: first their attempts, with the
 * events that no attempt is left of. Before an agent goes, so does what hangs on it in logs of others.
 */
export const closing: CloseDomain = ({ owns }) => {
  const agent = sql`${agents} a join ${webhook_events} e on e.agent_id = a.id`;
  return {
    parts: {
      subscriptions: sql`update ${webhooks} a set is_active = false, secret = null, url = '', description = null,
        updated_at = now() from u where ${owns}`,
    },
    chunks: [
      withEvents(sql`${webhooks} a join ${webhook_deliveries} d on d.webhook_id = a.id where ${owns}`),
      withEvents(sql`${agents} a join ${webhooks} w on w.agent_id = a.id
        join ${webhook_deliveries} d on d.webhook_id = w.id where ${goes(owns)}`),
      withEvents(sql`${agent} join ${webhook_deliveries} d on d.event_id = e.id where ${goes(owns)}`),
      sql`with done as (
        delete from ${webhook_events} where id in (
          select e.id from ${agent} where ${goes(owns)}
            and not exists (select from ${webhook_deliveries} d where d.event_id = e.id) limit ${CHUNK}
        ) returning id
      )`,
      sql`with done as (
        delete from ${webhooks} where id in (select a.id from ${webhooks} a where ${owns} limit ${CHUNK}) returning id
      )`,
    ],
  };
};

/** SQL: a chunk that deletes attempts, rows `d` of `source`, and the events that have none left then. */
function withEvents(source: SQL): SQL {
  return sql`with chunk as (
    select d.id, d.event_id from ${source} limit ${CHUNK}
  ), told as (
    delete from ${webhook_events} e where e.id in (select event_id from chunk) and not exists (
      select from ${webhook_deliveries} d where d.event_id = e.id and d.id not in (select id from chunk))
  ), done as (
    delete from ${webhook_deliveries} d using chunk c where d.id = c.id returning d.id
  )`;
}
