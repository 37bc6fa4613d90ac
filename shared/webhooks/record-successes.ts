import { sql } from "drizzle-orm";
import * as z from "zod";
import { kept, writeKept } from "../db/kept.ts";
import { webhook_deliveries, webhooks } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { SUCCEEDED } from "./record.ts";
import type { Attempt, Outcome } from "./send.ts";

/**
 * Records attempts (a list of what their columns are to be) that succeeded and are still held by the lease that is named. The
 * subscription's row is locked first, as everywhere.
 */
export const RECORD_SUCCESSES = kept("record_successes", { successes: "jsonb" }, (value) => ({
  parts: sql`with held as (
      select d.webhook_id, o.* from jsonb_to_recordset(${value("successes")})
          as o(id uuid, lease uuid, status integer, duration_ms integer, excerpt text, sent_at timestamptz)
        join ${webhook_deliveries} d on d.id = o.id and d.lease_token = o.lease and d.status = 'pending'
    ), w as (
      update ${webhooks} w set ${SUCCEEDED} where w.failures > 0 and w.id in (select webhook_id from held) returning w.id
    ), recorded as (
      update ${webhook_deliveries} d set lease_token = null, lease_expires_at = null, response_status = o.status,
        duration_ms = o.duration_ms, response_excerpt = o.excerpt, attempted_at = o.sent_at, next_attempt_at = null,
        status = 'succeeded'
      from held o where d.id = o.id and d.lease_token = o.lease and d.status = 'pending'
        and (select count(*) from w) >= 0
      returning d.id
    )`,
  select: sql`select to_jsonb(count(*)) as result from recorded`,
}));

/**
 * Records attempts that succeeded, all in one statement, and ends their subscriptions' time of failures. What has passed
 * to another holder is left to that one. For attempts of events: of a ping nothing counts.
 */
export async function recordSuccesses(
  ctx: Context,
  successes: readonly { attempt: Attempt; outcome: Outcome }[],
): Promise<void> {
  const rows = successes.map(({ attempt: { id, lease }, outcome: { sentAt, status, durationMs, excerpt } }) => ({
    id,
    lease,
    status,
    duration_ms: durationMs,
    excerpt,
    sent_at: sentAt.toISOString(),
  }));
  await writeKept(ctx, [RECORD_SUCCESSES.with({ successes: JSON.stringify(rows) })], z.int());
}
