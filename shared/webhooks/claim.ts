import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { inSeries, kept, writeSeries } from "../db/kept.ts";
import { lockOwed, takeBack } from "../db/owed.ts";
import { webhook_deliveries, webhook_events, webhooks } from "../db/schema/index.ts";
import { createTogether } from "../db/together.ts";
import type { Step } from "../db/written.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { DELIVERER, type DueMessage, oweMore } from "./messages.ts";
import { type Attempt, Claimed } from "./send.ts";

/** How long an attempt belongs to its holder, in seconds: enough for all of a batch to be sent and recorded. */
export const LEASE_S = 60;

/** How many attempts of one subscription are claimed at once. */
const BATCH_SIZE = 50;

/** How long the bodies that are claimed at once may be, in bytes: escaped twice on their way, they are what Neon returns at most. */
const MOST_BYTES = 2 * 1024 * 1024;

/** How many subscriptions share a statement. */
const MOST_TOGETHER = 20;

/** SQL: whether the attempt row `d` can be claimed. */
const FREE: SQL = sql`d.status = 'pending' and (d.lease_token is null or d.lease_expires_at < now())`;

/** Locks the messages about these subscriptions (their ids): what was owed while they stood has then been committed. */
export const LOCK_DUE = kept("lock_due", { webhooks: "jsonb" }, (value) => ({
  parts: sql`with message as (
    ${lockOwed(DELIVERER, sql`select id::uuid from jsonb_array_elements_text(${value("webhooks")}) as w(id)`)}
  )`,
  select: sql`select to_jsonb(count(*)) from message`,
}));

/**
 * Claims what is due of a list of subscriptions (`webhook`): what is due by `due`, by `now` or by when its message says,
 * under its `lease`; of several about the same one, the latest claims for all. The message `more` is for what is left of one.
 */
export const CLAIM_DUE = kept("claim_due", { claims: "jsonb", now: "timestamptz" }, (value) =>
  claiming(
    sql`given as (
      select distinct on (webhook) *
      from jsonb_to_recordset(${value("claims")}) as g(webhook uuid, due timestamptz, lease uuid, more uuid)
      order by webhook, due desc
    ), message as (${takeBack([DELIVERER], sql`select webhook from given`)} returning id, body), until as (
      select g.webhook, g.lease, g.more, greatest(${value("now")}, g.due, (m.body ->> 'due')::timestamptz) as due
      from given g left join message m on m.id = g.webhook
    ), waiting as (
      select d.*, u.lease, row_number() over (partition by u.lease order by d.next_attempt_at, d.id) as place
      from until u cross join lateral (
        select d.id, d.webhook_id, d.event_id, d.next_attempt_at from ${webhook_deliveries} d
        where d.webhook_id = u.webhook and ${FREE} and d.next_attempt_at <= u.due
        order by d.next_attempt_at, d.id limit ${BATCH_SIZE + 1} for update skip locked
      ) d
    ), measured as (
      select w.*, sum(octet_length(e.body)) over (order by w.place, w.id) as bytes
      from waiting w join ${webhook_events} e on e.id = w.event_id
    ), target as (select * from measured where place <= ${BATCH_SIZE} and bytes <= ${MOST_BYTES}),
    more as (${oweMore(
      sql`more`,
      sql`select webhook as webhook_id, due, more from until
        where lease in (select lease from measured where place > ${BATCH_SIZE} or bytes > ${MOST_BYTES})`,
    )})`,
  ),
);

/** Claims what is due of subscriptions, seeing all that was owed by the messages that it takes. */
export const CLAIM_ALL_DUE = inSeries("claim_all_due", [LOCK_DUE, CLAIM_DUE]);

/** What was claimed: attempts by their lease, the longest due first, and what they stand for, each once. */
const AllClaimed = z.object({
  attempts: z.record(z.string(), z.array(z.object({ id: z.uuid(), webhook: z.uuid(), event: z.uuid() }))),
  webhooks: z.record(z.string(), Claimed.pick({ url: true, secret: true })),
  events: z.record(z.string(), Claimed.pick({ type: true, body: true })),
});

const claims = createTogether({ most: MOST_TOGETHER, isLarge: () => false, write: claimAllDue });

/**
 * Claims the attempts of a subscription that are due and that nobody holds, at most 50, the longest due first, together with
 * those of others that are to be made at the time; if it has more, the queue is owed another message for them. Those of a
 * subscription that has been turned off end here.
 */
export function claimDue(ctx: Context, message: z.output<typeof DueMessage>): Promise<Attempt[]> {
  return claims.write(ctx, message);
}

async function claimAllDue(ctx: Context, messages: readonly z.output<typeof DueMessage>[]): Promise<Attempt[][]> {
  const at = ctx.now();
  const given = messages.map(({ webhook_id: webhook, due }) => ({ webhook, due, lease: newId(at), more: newId(at) }));
  const claim = CLAIM_ALL_DUE.with([
    { webhooks: JSON.stringify(given.map(({ webhook }) => webhook)) },
    { claims: JSON.stringify(given), now: at.toISOString() },
  ]);
  const [, claimed] = await writeSeries(ctx, claim, [z.int(), AllClaimed]);
  return given.map(({ lease }) => heldBy(lease, claimed));
}

/** The attempts that were claimed under a lease. */
function heldBy(lease: string, claimed: z.output<typeof AllClaimed> | null): Attempt[] {
  const attempts = claimed?.attempts[lease] ?? [];
  return attempts.map(({ id, webhook, event }) => {
    const [to, about] = [claimed?.webhooks[webhook], claimed?.events[event]];
    if (to === undefined || about === undefined) throw new Error("an attempt was claimed without what it stands for");
    return { id, lease, ...to, ...about };
  });
}

/** Claims the attempts of the part `target` of `parts`, each under its `lease`; the part `more` owes messages. */
function claiming(parts: SQL): Step {
  return {
    parts: sql`with ${parts}, claimed as (
      update ${webhook_deliveries} d set lease_token = t.lease,
        lease_expires_at = now() + ${LEASE_S}::integer * interval '1 second'
      from target t join ${webhooks} w on w.id = t.webhook_id where d.id = t.id and w.is_active
      returning d.id, d.webhook_id, d.event_id, d.next_attempt_at, t.lease
    ), stopped as (
      update ${webhook_deliveries} d set status = 'exhausted', next_attempt_at = null,
        response_excerpt = 'Nothing was sent: the webhook was turned off before this attempt.'
      from target t join ${webhooks} w on w.id = t.webhook_id where d.id = t.id and not w.is_active
    ), attempts as (
      select lease, jsonb_agg(jsonb_build_object('id', id, 'webhook', webhook_id, 'event', event_id)
        order by next_attempt_at, id) as all_of_it from claimed group by lease
    )`,
    owes: ["more"],
    select: sql`select jsonb_build_object(
      'attempts', (select coalesce(jsonb_object_agg(lease, all_of_it), '{}') from attempts),
      'webhooks', (select coalesce(jsonb_object_agg(id, jsonb_build_object('url', url, 'secret', secret)), '{}')
        from ${webhooks} where id in (select webhook_id from claimed)),
      'events', (select coalesce(jsonb_object_agg(id, jsonb_build_object('type', type, 'body', body)), '{}')
        from ${webhook_events} where id in (select event_id from claimed)))`,
  };
}
