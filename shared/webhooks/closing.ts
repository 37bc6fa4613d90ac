import { sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { webhook_deliveries, webhook_events, webhooks } from "../db/schema/index.ts";

/** Deletes the account's subscriptions, and the events that were delivered to them. */
export const closing: CloseDomain = ({ owns }) => ({
  parts: {
    subscriptions: sql`delete from ${webhooks} a using u where ${owns}`,
    delivered: sql`delete from ${webhook_events} e using u where e.id in (select d.event_id from ${webhook_deliveries} d
      join ${webhooks} a on a.id = d.webhook_id where ${owns})`,
  },
});
