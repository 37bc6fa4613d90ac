import { sql } from "drizzle-orm";
import * as z from "zod";
import { kept, writeKept } from "../db/kept.ts";
import { webhook_deliveries, webhooks } from "../db/schema/index.ts";
import { createTogether } from "../db/together.ts";
import type { Context } from "../platform/context.ts";
import { SUCCEEDED } from "./record.ts";
import type { Attempt, Outcome } from "./send.ts";

/**
 * Records attempts (a list of what their columns are to be) that succeeded and are still held by the lease that is named. The
 * rows of their subscriptions are locked first, as everywhere, and in one order.
 */
export const RECORD_SUCCESSES = kept("record_successes", { successes: "jsonb" }, (value) => ({
  parts: sql`with named as materialized (
      select d.webhook_id, d.lease_token, d.status as state, o.* from jsonb_to_recordset(${value("successes")})
          as o(id uuid, lease uuid, status integer, duration_ms integer, excerpt text, sent_at timestamptz)
        join ${webhook_deliveries} d on d.id = o.id
    ), held as (
      select * from named where lease_token = lease and state = 'pending'
    ), failing as (
      select w.id from ${webhooks} w where w.failures > 0 and w.id in (select webhook_id from held) order by w.id for update
    ), w as (
      update ${webhooks} w set ${SUCCEEDED} where w.id in (select id from failing) returning w.id
    ), recorded as (
      update ${webhook_deliveries} d set lease_token = null, lease_expires_at = null, response_status = o.status,
        duration_ms = o.duration_ms, response_excerpt = o.excerpt, attempted_at = o.sent_at, next_attempt_at = null,
        status = 'succeeded'
      from held o where d.id = o.id and d.lease_token = o.lease and d.status = o.state
        and (select count(*) from w) >= 0
      returning d.id
    )`,
  select: sql`select to_jsonb(count(*)) as result from recorded`,
}));

/** What is recorded of an attempt that succeeded. */
interface Success {
  attempt: Attempt;
  outcome: Outcome;
}

/** How many subscriptions share a statement. */
const MOST_TOGETHER = 20;

const recordings = createTogether({ most: MOST_TOGETHER, isLarge: () => false, write: recordAll });

/**
 * Records attempts of a subscription that succeeded, in one statement with those of others, and ends its time of failures.
 * What has passed to another holder is left to that one. For attempts of events: of a ping nothing counts.
 */
export async function recordSuccesses(ctx: Context, successes: readonly Success[]): Promise<void> {
  await recordings.write(ctx, successes);
}

async function recordAll(ctx: Context, lists: readonly (readonly Success[])[]): Promise<undefined[]> {
  const rows = lists.flat().map(({ attempt: { id, lease }, outcome: { sentAt, status, durationMs, excerpt } }) => ({
    id,
    lease,
    status,
    duration_ms: durationMs,
    excerpt,
    sent_at: sentAt.toISOString(),
  }));
  await writeKept(ctx, [RECORD_SUCCESSES.with({ successes: JSON.stringify(rows) })], z.int());
  return lists.map(() => undefined);
}
