import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { lockAccounts } from "../../agents/account.ts";
import { insertHired } from "../../agents/parts.ts";
import { note } from "../../analytics/event.ts";
import { write } from "../../db/change.ts";
import { isDeleted } from "../../db/deleted.ts";
import { agents, purchases, revenue, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";

const NAME_LENGTH = 120;

/** SQL: what a purchase row `p` that is settled keeps of what its seller declared: nothing once that account is gone. */
const kept = sql`case when p.seller_id is not null then p.declared_configuration end`;

/**
 * Completes a purchase that is paid: the buyer gets the hired clone, and the revenue and an event of analytics are kept.
 * The clone is private and simulated, a variant of the root of the listed agent, with the declared configuration as it was
 * bought; the plan's limit does not apply to what is paid for. Does nothing to a purchase that is final. Where the buyer's
 * account is gone by now, the purchase is completed without a clone. Returns whether the payment gave its buyer something,
 * now or before: not so either where the purchase has failed, or is gone, as after the database was set back.
 */
export async function completePurchase(ctx: Context, purchaseId: string, sessionId: string): Promise<boolean> {
  const id = sql`${purchaseId}::uuid`;
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
  const buyer = sql`from (select p.buyer_id as id from p where p.hired_agent_id is not null) u`;
  const isThere = sql`exists (select from ${users} u where u.id = p.buyer_id and not ${isDeleted})`;
  const isGiven = await write(ctx, {
    // The buyer's agents change one at a time, so that the name stays free; both accounts are locked in one order.
    lock: lockAccounts(sql`select unnest(array[p.buyer_id, p.seller_id]) from ${purchases} p where p.id = ${id}`),
    parts: sql`with p as (
      update ${purchases} p set status = 'COMPLETED', completed_at = ${now}, declared_configuration = ${kept},
        checkout_session_id = coalesce(p.checkout_session_id, ${sessionId}),
        hired_agent_id = case when ${isThere} then ${newId(ctx.now())}::uuid end
      where p.id = ${id} and p.status = 'AWAITING_PAYMENT' returning p.*, old.declared_configuration as bought
    ), clone as (
      ${insertHired(sql`select p.hired_agent_id as id, p.buyer_id as user_id, ${freeName} as name,
        p.bought as declared_configuration, (select coalesce(a.variant_of, a.id) from ${agents} a where a.id = p.agent_id) as variant_of
      from p where p.hired_agent_id is not null`)}
    ), earned as (
      insert into ${revenue} (purchase_id, seller_id, gross_usd, fee_usd, net_usd, realised_at)
      select p.id, p.seller_id, p.price_usd, p.fee_usd, p.price_usd - p.fee_usd, ${now} from p
    ), noted as (
      ${note(ctx, "playbook_hired", { purchase_id: purchaseId }, buyer)}
    )`,
    owes: ["noted"],
    select: sql`select to_jsonb(exists (select from p where p.hired_agent_id is not null)
      or exists (select from ${purchases} p where p.id = ${id} and p.status = 'COMPLETED')) as result`,
    result: z.boolean(),
  });
  return isGiven === true;
}

/**
 * SQL: the name of the purchase row `p`'s agent, with a number where an active agent of the buyer has that name, however
 * it is capitalised.
 */
const freeName: SQL = sql`(
  select c.name from (
    select n, case n when 1 then p.agent_name
      else left(p.agent_name, ${NAME_LENGTH} - length(n::text) - 3) || ' (' || n || ')' end as name
    from generate_series(1, 2 + (
      select count(*) from ${agents} o where o.is_active and o.team_id is null and o.user_id = p.buyer_id)) n
  ) c where not exists (select from ${agents} o where o.is_active and coalesce(o.team_id, o.user_id) = p.buyer_id
    and lower(o.name) = lower(c.name)) order by c.n limit 1)`;

/**
 * Forgets the page of a purchase at which the buyer has paid by a method that is settled later: nobody can pay there any
 * more, however many days the payment takes. Does nothing to a purchase that is final or has another checkout.
 */
export async function leavePage(ctx: Context, purchaseId: string, sessionId: string): Promise<void> {
  await ctx.db.execute(sql`update ${purchases} set checkout_url = null, checkout_session_id = ${sessionId}
    where id = ${purchaseId}::uuid and status = 'AWAITING_PAYMENT'
      and coalesce(checkout_session_id, ${sessionId}) = ${sessionId}`);
}

/**
 * Marks a purchase whose checkout was never paid as failed; the buyer may begin another. Does nothing to one that is final
 * or has another checkout.
 */
export async function failPurchase(ctx: Context, purchaseId: string, sessionId: string): Promise<void> {
  await ctx.db.execute(sql`update ${purchases} p
    set status = 'FAILED', checkout_session_id = ${sessionId}, declared_configuration = ${kept}
    where id = ${purchaseId}::uuid and status = 'AWAITING_PAYMENT'
      and coalesce(checkout_session_id, ${sessionId}) = ${sessionId}`);
}
