import type Stripe from "stripe";
import { expect } from "vitest";
import type { TestService } from "../../stack/service.ts";

const ENTITLING = ["active", "trialing", "past_due"];

/** The plan that a customer's subscriptions pay for, said in another way than the service does. */
export function paidPlan(service: TestService, subscriptions: readonly Stripe.Subscription[]): string {
  const paid = subscriptions
    .filter(({ status }) => ENTITLING.includes(status))
    .flatMap(({ items }) => items.data.map(({ price }) => price.id));
  const sells = (tier: string) =>
    paid.some((id) =>
      ["MONTHLY", "YEARLY"].some((cadence) => service.settings[`STRIPE_PRICE_${tier}_${cadence}`] === id),
    );
  return sells("TEAM") ? "team" : sells("PRO") ? "pro" : "free";
}

/**
 * Holds the books against the provider and against each other, once every event is delivered: each customer's plan is the
 * one that it pays for, completed purchases and hired agents are pairs, and revenue is the sum of completed purchases.
 */
export async function assertMoney(service: TestService): Promise<void> {
  const customers = await service.sql<{ customer_id: string; plan: string }>(
    `select b.customer_id, u.plan from billing_customers b join users u on u.id = b.user_id where u.plan <> 'enterprise'`,
  );
  const paid = customers.map(({ customer_id }) => ({
    customer_id,
    plan: paidPlan(service, service.stripe.subscriptions(customer_id)),
  }));
  expect(customers, "plans are what the provider says").toEqual(paid);

  const unpaired = await service.sql(
    `select p.id from purchases p left join users b on b.id = p.buyer_id
       where (p.status = 'COMPLETED') <> (p.hired_agent_id is not null) and b.email not like 'Deleted-%'
     union all
     select a.id from agents a join agents r on r.id = a.variant_of
       where coalesce(a.team_id, a.user_id) <> coalesce(r.team_id, r.user_id)
         and not exists (select from purchases p where p.hired_agent_id = a.id and p.status = 'COMPLETED')`,
  );
  expect(unpaired, "completed purchases and hired agents are pairs").toEqual([]);

  const unbooked = await service.sql(
    `select coalesce(p.id, r.purchase_id) as id
     from (select * from purchases where status = 'COMPLETED') p full join revenue r on r.purchase_id = p.id
     where p.id is null or r.purchase_id is null or r.gross_usd <> p.price_usd or (r.fee_usd <> p.fee_usd
         or r.net_usd <> p.price_usd - p.fee_usd) and r.read_at is null`,
  );
  expect(unbooked, "each completed purchase is booked as it was paid, and nothing else is").toEqual([]);
  const [sums] = await service.sql<{ revenue: string; purchases: string }>(
    `select (select coalesce(sum(gross_usd), 0) from revenue)::text as revenue,
       (select coalesce(sum(price_usd), 0) from purchases where status = 'COMPLETED')::text as purchases`,
  );
  expect(Number(sums?.revenue), "revenue is the sum of completed purchases").toBe(Number(sums?.purchases));
}

/** Fails unless the money adds up, nothing was refused by the provider, and each request that changes something had a key. */
export async function assertBilling(service: TestService): Promise<void> {
  await assertMoney(service);
  expect(service.stripe.refused).toEqual([]);
  const posts = service.stripe.requests.filter(({ method }) => method === "POST");
  expect(posts.filter(({ idempotencyKey }) => idempotencyKey === undefined)).toEqual([]);
}
