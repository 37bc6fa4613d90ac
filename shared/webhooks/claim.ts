import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { inSeries, kept, writeSeries } from "../db/kept.ts";
import { lockOwed, takeBack } from "../db/owed.ts";
import { webhook_deliveries, webhook_events, webhooks } from "../db/schema/index.ts";
import type { Step } from "../db/written.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { DELIVERER, type DueMessage, oweMore } from "./messages.ts";
import { type Attempt, Claimed } from "./send.ts";

/** How long an attempt belongs to its holder, in seconds: enough for all of a batch to be sent and recorded. */
export const LEASE_S = 60;

/** How many attempts are claimed at once: with the longest bodies they are a third of what Neon returns at most. */
const BATCH_SIZE = 50;

/** SQL: whether the attempt row `d` can be claimed. */
const FREE: SQL = sql`d.status = 'pending' and (d.lease_token is null or d.lease_expires_at < now())`;

/** Locks the message about a subscription (its id): what was owed while it stood has then been committed. */
export const LOCK_DUE = kept("lock_due", { webhook: "uuid" }, (value) => ({
  parts: sql`with message as (${lockOwed(DELIVERER, value("webhook"))})`,
  select: sql`select to_jsonb(count(*)) from message`,
}));

/** Claims the attempts of a subscription that are due by `due`, by `now` or by when its message says, under `lease`. */
export const CLAIM_DUE = kept(
  "claim_due",
  { webhook: "uuid", due: "timestamptz", now: "timestamptz", lease: "uuid", more: "uuid" },
  (value) =>
    claiming(
      value("lease"),
      sql`message as (${takeBack([DELIVERER], value("webhook"))} returning body), until as (
        select greatest(${value("now")}, ${value("due")}, (select (body ->> 'due')::timestamptz from message)) as due
      ), waiting as (
        select d.id, d.webhook_id from ${webhook_deliveries} d
        where d.webhook_id = ${value("webhook")} and ${FREE} and d.next_attempt_at <= (select due from until)
        order by d.next_attempt_at, d.id limit ${BATCH_SIZE + 1} for update skip locked
      ), target as (select * from waiting limit ${BATCH_SIZE}),
      more as (${oweMore(
        value("more"),
        sql`select ${value("webhook")} as webhook_id, due from until where (select count(*) from waiting) > ${BATCH_SIZE}`,
      )})`,
      ["more"],
    ),
);

/** Claims what is due of a subscription, seeing all that was owed by the message that it takes. */
export const CLAIM_ALL_DUE = inSeries("claim_all_due", [LOCK_DUE, CLAIM_DUE]);

const AllClaimed = z.array(Claimed);

/**
 * Claims the attempts of a subscription that are due and that nobody holds, at most 50, the longest due first; if it has
 * more, the queue is owed another message for them. Those of a subscription that has been turned off end here.
 */
export async function claimDue(
  ctx: Context,
  { webhook_id: webhook, due }: z.output<typeof DueMessage>,
): Promise<Attempt[]> {
  const at = ctx.now();
  const lease = newId(at);
  const claim = CLAIM_ALL_DUE.with([{ webhook }, { webhook, due, now: at.toISOString(), lease, more: newId(at) }]);
  const [, claimed] = await writeSeries(ctx, claim, [z.int(), AllClaimed]);
  return held(claimed, lease);
}

/** Claims one attempt, whenever it is due, if nobody holds it; one to a subscription that is off ends here. */
export async function claimOne(ctx: Context, deliveryId: string): Promise<Attempt[]> {
  const lease = newId(ctx.now());
  const target = sql`target as (
    select d.id, d.webhook_id from ${webhook_deliveries} d where d.id = ${deliveryId}::uuid and ${FREE} for update
  )`;
  return held(await write(ctx, { ...claiming(sql`${lease}::uuid`, target), result: AllClaimed }), lease);
}

function held(claimed: z.output<typeof AllClaimed> | null, lease: string): Attempt[] {
  return (claimed ?? []).map((attempt) => ({ ...attempt, lease }));
}

/** Claims the attempts of the part `target`, the last of `parts`. */
function claiming(lease: SQL, parts: SQL, owes?: ["more"]): Step {
  return {
    parts: sql`with ${parts}, claimed as (
      update ${webhook_deliveries} d set lease_token = ${lease},
        lease_expires_at = now() + ${LEASE_S}::integer * interval '1 second'
      from target t join ${webhooks} w on w.id = t.webhook_id where d.id = t.id and w.is_active
      returning d.id, d.event_id, d.next_attempt_at, w.url, w.secret
    ), stopped as (
      update ${webhook_deliveries} d set status = 'exhausted', next_attempt_at = null,
        response_excerpt = 'Nothing was sent: the webhook was turned off before this attempt.'
      from target t join ${webhooks} w on w.id = t.webhook_id where d.id = t.id and not w.is_active
    )`,
    ...(owes === undefined ? {} : { owes }),
    select: sql`select jsonb_agg(jsonb_build_object('id', c.id, 'url', c.url, 'secret', c.secret, 'type', e.type,
      'body', e.body) order by c.next_attempt_at, c.id) as result from claimed c join ${webhook_events} e on e.id = c.event_id`,
  };
}
