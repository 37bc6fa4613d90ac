import { type SQL, sql } from "drizzle-orm";
import { accountOf } from "../agents/account.ts";
import { users, webhook_deliveries, webhook_events, webhooks } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { flush } from "../db/outbox.ts";
import { owe, owed } from "../db/owed.ts";
import type { Message } from "../platform/message.ts";
import { PING } from "./event.ts";
import { oweAttempts } from "./messages.ts";
import type { Attempt, Outcome } from "./send.ts";
import { deliveryJson, type DeliveryRow, webhookOwner } from "./view.ts";

/** Seconds between an attempt that failed and the next; after as many failures and one it is given up. */
const RETRY_DELAYS_S = [5, 60, 300, 1800, 7200, 21_600, 43_200, 86_400];

/** Without one success for so long, over so many attempts, a subscription is turned off. */
const PATIENCE = { days: 3, attempts: 20 };

const REASONS: Record<"receiver_gone" | "receiver_failing", string> = {
  receiver_gone: "The receiver answered 410 Gone.",
  receiver_failing: `No delivery has succeeded for ${PATIENCE.days} days, over at least ${PATIENCE.attempts} attempts.`,
};

/**
 * Keeps what came of an attempt, and after a failure makes the next one, all in one statement. A subscription whose
 * receiver is gone, or has failed for too long, is turned off, and its owner is mailed once. A ping is not repeated and
 * turns nothing off. Returns the attempt as the log shows it; null where it is not the holder's any more.
 */
export async function record(ctx: Context, attempt: Attempt, outcome: Outcome): Promise<DeliveryRow | null> {
  const { status } = outcome;
  const succeeded = status !== null && status >= 200 && status < 300;
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const held = sql`d.id = ${attempt.id}::uuid and d.lease_token = ${attempt.lease}::uuid`;
  const counted = sql`${held} and w.id = d.webhook_id and ${attempt.type !== PING}`;
  const recorded = await readJson<{ delivery: DeliveryRow | null; messages: Message[] }>(
    ctx,
    sql`with w as (
      update ${webhooks} w set ${succeeded ? MENDED : strained(at, status === 410)} from ${webhook_deliveries} d
      where ${counted} and (w.failures > 0 or not ${succeeded}) returning w.*, old.is_active as was_active
    ), fate as (
      select not ${succeeded} and exists (select from w where w.is_active) as goes_on
    ), done as (
      update ${webhook_deliveries} d set lease_token = null, lease_expires_at = null, response_status = ${status}::integer,
        duration_ms = ${outcome.durationMs}::integer, response_excerpt = ${outcome.excerpt},
        attempted_at = ${outcome.sentAt.toISOString()}::timestamptz,
        next_attempt_at = case when f.goes_on then ${at} + ${DELAY} * interval '1 second' end,
        status = case when ${succeeded} then 'succeeded' when f.goes_on and ${DELAY} is not null then 'failed'
          else 'exhausted' end
      from fate f where ${held} and d.status = 'pending' returning d.*
    ), next as (
      insert into ${webhook_deliveries} (webhook_id, event_id, attempt, next_attempt_at)
      select webhook_id, event_id, attempt + 1, next_attempt_at from done where status = 'failed'
      on conflict do nothing returning id, webhook_id, next_attempt_at
    ), messages as (${oweAttempts(ctx, sql`select id, webhook_id, next_attempt_at as due from next`)}),
    mailed as (${noticeOf(newId(now))})
    select jsonb_build_object('messages', ${owed("messages", "mailed")}, 'delivery',
      (select ${deliveryJson} from done d join ${webhook_events} e on e.id = d.event_id)) as result`,
  );
  ctx.defer(() => flush(ctx, recorded?.messages ?? []));
  return recorded?.delivery ?? null;
}

/** SQL: seconds from the failure of the attempt row `d` to the next, null after the last. */
const DELAY: SQL = sql`(${JSON.stringify(RETRY_DELAYS_S)}::jsonb -> (d.attempt - 1))::integer`;

/** SQL: what a success does to the subscription row `w`. */
const MENDED: SQL = sql`failing_since = null, failures = 0`;

/** SQL: what a failure does to the subscription row `w`. One that is off already keeps the reason it has. */
function strained(at: SQL, gone: boolean): SQL {
  const reason = gone
    ? sql`'receiver_gone'::text`
    : sql`case when w.failures + 1 >= ${PATIENCE.attempts}
        and w.failing_since <= ${at} - ${PATIENCE.days}::integer * interval '1 day' then 'receiver_failing' end`;
  return sql`failing_since = coalesce(w.failing_since, ${at}), failures = w.failures + 1,
    is_active = w.is_active and ${reason} is null,
    disabled_reason = case when w.is_active then ${reason} else w.disabled_reason end`;
}

/** SQL: owes the owner of the subscription `w`, where this statement turned it off, a mail about it. */
function noticeOf(id: string): SQL {
  const body = sql`jsonb_build_object('id', ${id}::text, 'template', 'webhook_disabled', 'to', u.email, 'params',
    jsonb_build_object('username', u.username, 'title', w.url,
      'reason', ${JSON.stringify(REASONS)}::jsonb -> w.disabled_reason))`;
  const source = sql`from w join ${users} u on u.id = ${accountOf(webhookOwner)} where w.was_active and not w.is_active`;
  return owe("mail", id, body, source);
}
