import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { accountOf } from "../agents/account.ts";
import { write } from "../db/change.ts";
import { webhook_deliveries, webhook_events, webhooks } from "../db/schema/index.ts";
import { tellOnce } from "../mail/owe-notice.ts";
import type { Context } from "../platform/context.ts";
import { PING } from "./event.ts";
import { oweLater } from "./messages.ts";
import { DeliveryRead } from "./shown.ts";
import { type Attempt, type Outcome, succeeded } from "./send.ts";
import { deliveryJson, webhookOwner } from "./view.ts";

/** Seconds between an attempt that failed and the next. The event is given up when the last of these has failed, too. */
const RETRY_DELAYS_S = [5, 60, 300, 1800, 7200, 21_600, 43_200, 86_400];

/** A subscription is turned off after so many days and attempts without one success. */
const PATIENCE = { days: 3, attempts: 20 };

const REASONS: Record<"receiver_gone" | "receiver_failing", string> = {
  receiver_gone: "The receiver answered 410 Gone.",
  receiver_failing: `No delivery has succeeded for ${PATIENCE.days} days, over at least ${PATIENCE.attempts} attempts.`,
};

/**
 * Records the outcome of an attempt, and after a failure makes the next one, all in one statement. A subscription whose
 * receiver is gone, or has failed for too long, is turned off, and its owner is mailed once. A ping is not repeated and
 * turns nothing off. Returns the attempt as the log shows it; null if it has passed to another holder, or its subscription is
 * gone.
 */
export async function record(
  ctx: Context,
  attempt: Attempt,
  outcome: Outcome,
): Promise<z.output<typeof DeliveryRead> | null> {
  const { status } = outcome;
  const success = succeeded(outcome);
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const held = sql`d.id = ${attempt.id}::uuid and d.lease_token = ${attempt.lease}::uuid`;
  const counted = sql`${held} and w.id = d.webhook_id and ${attempt.type !== PING}`;
  return write(ctx, {
    parts: sql`with w as (
      update ${webhooks} w set ${success ? SUCCEEDED : failed(at, status === 410)} from ${webhook_deliveries} d
      where ${counted} and (w.failures > 0 or not ${success}) returning w.*, old.is_active as was_active
    ), next_state as (
      select not ${success} and exists (select from w where w.is_active) as retries
    ), recorded as (
      update ${webhook_deliveries} d set lease_token = null, lease_expires_at = null, response_status = ${status}::integer,
        duration_ms = ${outcome.durationMs}::integer, response_excerpt = ${outcome.excerpt},
        attempted_at = ${outcome.sentAt.toISOString()}::timestamptz,
        next_attempt_at = case when s.retries then ${at} + ${DELAY} * interval '1 second' end,
        status = case when ${success} then 'succeeded' when s.retries and ${DELAY} is not null then 'failed'
          else 'exhausted' end
      from next_state s where ${held} and d.status = 'pending' returning d.*
    ), inserted as (
      insert into ${webhook_deliveries} (webhook_id, event_id, attempt, next_attempt_at)
      select webhook_id, event_id, attempt + 1, next_attempt_at from recorded where status = 'failed'
      on conflict do nothing returning webhook_id, next_attempt_at
    ), messages as (${oweLater(sql`select webhook_id, next_attempt_at as due from inserted`)}),
    ${noticeOf(at)}`,
    owes: ["messages", "mailed"],
    select: sql`select ${deliveryJson} as result from recorded d join ${webhook_events} e on e.id = d.event_id
      where exists (select from ${webhooks} s where s.id = d.webhook_id)`,
    result: DeliveryRead,
  });
}

/** SQL: seconds from the failure of the attempt row `d` to the next, null after the last. */
const DELAY: SQL = sql`(${JSON.stringify(RETRY_DELAYS_S)}::jsonb -> (d.attempt - 1))::integer`;

/** SQL: what a success does to the subscription row `w`. */
export const SUCCEEDED: SQL = sql`failing_since = null, failures = 0`;

/** SQL: what a failure does to the subscription row `w`. One that is already off keeps its reason. */
function failed(at: SQL, gone: boolean): SQL {
  const reason = gone
    ? sql`'receiver_gone'::text`
    : sql`case when w.failures + 1 >= ${PATIENCE.attempts}
        and w.failing_since <= ${at} - ${PATIENCE.days}::integer * interval '1 day' then 'receiver_failing' end`;
  return sql`failing_since = coalesce(w.failing_since, ${at}), failures = w.failures + 1,
    is_active = w.is_active and ${reason} is null,
    disabled_reason = case when w.is_active then ${reason} else w.disabled_reason end`;
}

/**
 * SQL: the parts that owe the owner of the subscription `w` a mail about it if this statement turned it off. Those at one
 * receiver end together: of all at one host that are turned off for one reason within the same hour, the first is told.
 */
function noticeOf(at: SQL): SQL {
  return tellOnce(
    "mailed",
    "turned_off",
    sql`select ${accountOf(webhookOwner)} as user_id, 'webhook_disabled' as notice, w.url as title,
      ${JSON.stringify(REASONS)}::jsonb ->> w.disabled_reason as reason, null::uuid as page_id,
      concat_ws(' ', substring(w.url from '^[a-z]+://[^/?#]+'), w.disabled_reason, date_trunc('hour', ${at})) as about
    from w where w.was_active and not w.is_active`,
  );
}
