import { type SQL, sql } from "drizzle-orm";
import { goes } from "../agents/closing.ts";
import type { Chunk, CloseDomain } from "../db/closing.ts";
import { anyOf, chunkOfEach } from "../db/closing-chunks.ts";
import { agents, webhook_deliveries, webhook_events, webhooks } from "../db/schema/index.ts";

/**
 * Switches the account's subscriptions off and forgets where they led, and then deletes them: first their attempts, with the
 * events that no attempt is left of, of agents that stay, too: they tell of private runs. Before an agent goes, so does what
 * hangs on it in logs of others.
 */
export const closing: CloseDomain = (account) => {
  const ofAgents = (rows: SQL): Chunk => withEvents((place) => chunkOfEach(account, agents, place, rows));
  return {
    parts: {
      subscriptions: sql`update ${webhooks} a set is_active = false, secret = null, url = '', description = null,
        updated_at = now() from u where ${account.owns}`,
    },
    chunks: [
      withEvents((place) =>
        chunkOfEach(
          account,
          webhooks,
          place,
          sql`select d.id, d.event_id from ${webhook_deliveries} d where d.webhook_id = a.id`,
          [["d.id", "uuid"]],
        ),
      ),
      ofAgents(sql`select d.id, d.event_id from ${webhooks} w join ${webhook_deliveries} d on d.webhook_id = w.id
        where w.agent_id = a.id and ${goes}`),
      ofAgents(sql`select d.id, d.event_id from ${webhook_events} e join ${webhook_deliveries} d on d.event_id = e.id
        where e.agent_id = a.id and ${goes}`),
      (place) => sql`${chunkOfEach(
        account,
        agents,
        place,
        sql`select e.id from ${webhook_events} e where e.agent_id = a.id
          and not exists (select from ${webhook_deliveries} d where d.event_id = e.id)`,
      )}, done as (
        delete from ${webhook_events} e where e.id = ${anyOf("chunk")} returning e.id
      )`,
      (place) => sql`${chunkOfEach(account, webhooks, place, sql`select a.id where true`)}, done as (
        delete from ${webhooks} w where w.id = ${anyOf("chunk")} returning w.id
      )`,
    ],
  };
};

/** A chunk that deletes attempts, and the events that have none left then. */
function withEvents(attempts: Chunk): Chunk {
  return (place) => sql`${attempts(place)}, told as (
    delete from ${webhook_events} e where e.id in (select event_id from chunk) and not exists (
      select from ${webhook_deliveries} d where d.event_id = e.id and d.id not in (select id from chunk))
  ), done as (
    delete from ${webhook_deliveries} d where d.id = ${anyOf("chunk")} returning d.id
  )`;
}
