import * as fc from "fast-check";
import type Stripe from "stripe";
import { afterAll, beforeAll, expect, it } from "vitest";
import { reconcile } from "../../../shared/billing/reconcile.ts";
import { lookAtSellersAgain } from "../../../shared/marketplace/seller/look-again.ts";
import { TAKERS } from "../../../shared/payments/takers.ts";
import type { User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { contextOf } from "../runs/run-events-support.ts";
import { addAgent, quietQueueClient, unique } from "../runs/support.ts";
import { customerOf, openCheckout as openPlan, planOf, shopper } from "./billing-support.ts";
import { openCheckout as openCertification, releaseQueue } from "./certify-payment-support.ts";
import { shortenSuites, statusOf } from "./certify-support.ts";
import {
  accountOf,
  begin,
  enable,
  LISTINGS,
  listRecipe,
  type Purchase,
  readPurchase,
  SALES,
  SELLER,
  sessionOf,
  traces,
} from "./marketplace-support.ts";

const RUNS = 10;

let service: TestService;
/** How far the clock is ahead, in milliseconds: of two things that happen one after the other the second is later. */
let ahead = 0;
const now = (): Date => new Date(Date.now() + ahead);

beforeAll(async () => {
  quietQueueClient();
  service = await startService({ stripe: true, overrides: { now } });
  await shortenSuites(service);
  service.faults.set({ service: "qstash", mode: "error" });
});

afterAll(async () => {
  await releaseQueue(service);
  expect(service.stripe.refused).toEqual([]);
  await service.stop();
});

/** Those in whose life all happens, with the pages that are open at its beginning. */
interface People {
  buyer: User;
  seller: User;
  agent: string;
  listing: { id: string; agent_id: string };
  account: string;
  customer: string;
  purchase: Purchase;
  pages: Record<"plan" | "certification" | "purchase", string>;
}

async function settleDown(): Promise<People> {
  const [buyer, seller] = [await shopper(service), await shopper(service, "pro")];
  await service.sql("update users set email_verified = true where id in ($1, $2)", [buyer.id, seller.id]);
  await seller.call("POST", SELLER);
  await enable(service, seller);
  const [agent, listing] = [await addAgent(buyer, { endpoint: "http://127.0.0.1:9/" }), await listRecipe(seller)];
  const plan = await openPlan(buyer);
  const { session: certification } = await openCertification(service, buyer, agent);
  const purchase = await begin(buyer, listing.id);
  const pages = { plan, certification, purchase: await sessionOf(service, purchase) };
  const [account, customer] = [await accountOf(service, seller), await customerOf(service, buyer.id)];
  return { buyer, seller, agent, listing, account, customer, purchase, pages };
}

/** How a page is left. */
const PAID = ["by card", "by debit", "by a debit that fails", "never"] as const;

/** What happens to a subscription that was begun, one after the other. */
const TO_PLAN = ["past_due", "unpaid", "active", "team", "pro", "ends later", "cancelled", "deleted"] as const;

/** What happens to a payment that was made, one after the other. */
const TO_PAYMENT = [
  "refund a part",
  "refund the rest",
  "refund fails",
  "dispute won",
  "dispute lost over a part",
] as const;
const TO_SALE = [...TO_PAYMENT, "refund a part of all", "transfer reversed", "fee refunded"] as const;

const TO_SELLER = ["restricted", "enabled", "deauthorised"] as const;

const steps = <T>(all: readonly T[], maxLength: number) => fc.array(fc.constantFrom(...all), { maxLength });

const lives = fc.record({
  plan: fc.tuple(fc.constantFrom(...PAID), steps(TO_PLAN, 4), fc.boolean()),
  certification: fc.tuple(fc.constantFrom(...PAID), steps(TO_PAYMENT, 3)),
  purchase: fc.tuple(fc.constantFrom(...PAID), steps(TO_SALE, 3)),
  seller: steps(TO_SELLER, 2),
});
type Life = typeof lives extends fc.Arbitrary<infer L> ? L : never;

/**
 * When each event comes, how often, and which never do: those of one place come in the order in which they happened, or at once.
 */
const orders = fc.record({
  places: fc.array(fc.nat(5), { minLength: 40, maxLength: 40 }),
  again: fc.array(fc.record({ event: fc.nat(39), place: fc.nat(6), isTwin: fc.boolean() }), { maxLength: 8 }),
  lost: fc.array(fc.nat(39), { maxLength: 10 }),
  atOnce: fc.boolean(),
});
type Order = typeof orders extends fc.Arbitrary<infer O> ? O : never;

/** Pays at a page, or leaves it. Returns the payment of what is sold once. */
function payAt(page: string, how: (typeof PAID)[number]): string | null {
  const { stripe } = service;
  if (how === "never") {
    stripe.expire(page);
    return null;
  }
  const events = stripe.pay(page, { later: how !== "by card" });
  if (how !== "by card") events.push(...stripe.settleLater(page, how === "by debit"));
  const session = events.find(({ type }) => type === "checkout.session.completed")?.data.object;
  return how === "by a debit that fails"
    ? null
    : ((session as Stripe.Checkout.Session).payment_intent as string | null);
}

async function changePlan(customer: string, step: (typeof TO_PLAN)[number]): Promise<void> {
  const { stripe, settings } = service;
  const id = stripe
    .subscriptions(customer)
    .find(({ status }) => status !== "canceled" && status !== "incomplete_expired")?.id;
  if (step === "deleted") {
    const authorization = `Bearer ${settings["STRIPE_SECRET_KEY"]}`;
    await fetch(`${stripe.url}/v1/customers/${customer}`, { method: "DELETE", headers: { authorization } });
  } else if (id === undefined) return;
  else if (step === "cancelled") stripe.changeSubscription(id, { cancel: true });
  else if (step === "ends later") stripe.changeSubscription(id, { endLater: "portal" });
  else if (step === "team" || step === "pro")
    stripe.changeSubscription(id, { price: settings[`STRIPE_PRICE_${step.toUpperCase()}_MONTHLY`] ?? "" });
  else stripe.changeSubscription(id, { status: step });
}

/** What can't be done now is not done. */
function changePayment(paymentIntent: string, step: (typeof TO_SALE)[number]): void {
  const { stripe } = service;
  const all = { reverse_transfer: true, refund_application_fee: true };
  const doings: Record<typeof step, () => unknown> = {
    "refund a part": () => stripe.refund(paymentIntent, 700),
    "refund a part of all": () => stripe.refund(paymentIntent, 500, all),
    "refund the rest": () => stripe.refund(paymentIntent),
    "refund fails": () => stripe.failRefund(paymentIntent),
    "dispute won": () => stripe.dispute({ paymentIntent }, "won"),
    "dispute lost over a part": () => stripe.dispute({ paymentIntent, amount: 900 }, "lost"),
    "transfer reversed": () => stripe.reverse(paymentIntent, 300),
    "fee refunded": () => stripe.refundFee(paymentIntent, 50),
  };
  try {
    doings[step]();
  } catch (error) {
    if (!/already been refunded|greater than|nothing was refunded/.test(String(error))) throw error;
  }
}

/** Lets a life happen; after each step of it `heard` is told. */
async function live({ pages, customer, account }: People, life: Life, heard: () => Promise<void>): Promise<void> {
  const { stripe } = service;
  const [[howPlan, planSteps, isDisputed], [howCertification, ofCertification], [howPurchase, ofSale]] = [
    life.plan,
    life.certification,
    life.purchase,
  ];
  const doings: (() => unknown)[] = [() => payAt(pages.plan, howPlan)];
  let certification: string | null = null;
  let sale: string | null = null;
  doings.push(() => (certification = payAt(pages.certification, howCertification)));
  doings.push(() => (sale = payAt(pages.purchase, howPurchase)));
  for (const step of planSteps) doings.push(() => changePlan(customer, step));
  for (const step of ofCertification) doings.push(() => certification !== null && changePayment(certification, step));
  for (const step of ofSale) doings.push(() => sale !== null && changePayment(sale, step));
  const isConnected = () =>
    stripe.events.every(({ type, account: of }) => of !== account || !type.endsWith("deauthorized"));
  for (const step of life.seller)
    doings.push(
      () =>
        isConnected() &&
        (step === "deauthorised"
          ? stripe.deauthorise(account)
          : stripe.onboard(account, { charges_enabled: step === "enabled", payouts_enabled: step === "enabled" })),
    );
  if (isDisputed) doings.push(() => stripe.dispute({ customer }, "lost"));
  for (const doing of doings) {
    await doing();
    ahead += 1000;
    await heard();
  }
}

async function deliver(events: readonly Stripe.Event[], atOnce: boolean): Promise<void> {
  const one = async (event: Stripe.Event) => {
    const { status, body } = await service.stripe.deliver(event);
    if (status !== 200) throw new Error(`${event.type}: ${status} ${JSON.stringify(body)}`);
  };
  if (atOnce) await Promise.all(events.map(one));
  else for (const event of events) await one(event);
}

/** What the service asks of the provider when it hears of something happens there, too: until there is nothing new. */
async function deliverNew(from: number, but: ReadonlySet<string> = new Set()): Promise<void> {
  let next = from;
  while (next < service.stripe.events.length) {
    const events = service.stripe.events.slice(next).filter(({ id }) => !but.has(id));
    next = service.stripe.events.length;
    await deliver(structuredClone(events), false);
  }
}

/** Delivers what happened since an event in an order; what is lost is made up for in the night. Returns what was delivered. */
async function deliverInOrder(from: number, { places, again, lost, atOnce }: Order): Promise<string[]> {
  const events = structuredClone(service.stripe.events.slice(from));
  const gone = new Set(lost.flatMap((index) => events[index]?.id ?? []));
  const all = [
    ...events.map((event, index) => ({ event, place: places[index] ?? 0 })),
    ...again.flatMap(({ event: index, place, isTwin }) => {
      const event = events[index];
      return event === undefined || gone.has(event.id)
        ? []
        : [{ event: isTwin ? { ...event, id: unique("evt").replace(" ", "_") } : event, place }];
    }),
  ].filter(({ event }) => !gone.has(event.id));
  const groups = Map.groupBy(all, ({ place }) => place);
  const told = [];
  for (const place of [...groups.keys()].toSorted((a, b) => a - b)) {
    const group = (groups.get(place) ?? []).map(({ event }) => event);
    await deliver(group, atOnce);
    told.push(`${place}: ${group.map(({ type }) => type).join(", ")}`);
  }
  await deliverNew(from + events.length);
  if (gone.size > 0) await night();
  return [
    ...told,
    `lost: ${events
      .filter(({ id }) => gone.has(id))
      .map(({ type }) => type)
      .join(", ")}`,
  ];
}

/** The items of the daily work that make up for events. */
async function night(): Promise<void> {
  const ctx = contextOf(service, now);
  const pieces: ((cursor: string | null) => ReturnType<typeof reconcile>)[] = [
    (cursor) => reconcile(ctx, TAKERS, cursor, null),
    (cursor) => lookAtSellersAgain(ctx, cursor),
  ];
  const from = service.stripe.events.length;
  for (const piece of pieces) {
    let cursor: string | null = null;
    do {
      const { next, failure }: Awaited<ReturnType<typeof reconcile>> = await piece(cursor);
      if (failure !== undefined) throw failure;
      cursor = next;
    } while (cursor !== null);
  }
  await deliverNew(from);
}

/** Mails about what a plan went through: of what was over before anything told of it, nobody is told. */
const OF_CHANGES = ["plan_unpaid", "plan_smaller"];

/** All that anybody sees of how it ended. */
async function endOf({ buyer, seller, agent, listing, customer, purchase }: People, logs: number): Promise<object> {
  const [row] = await service.sql<object>(
    `select case when b.subscription_status not in ('canceled', 'incomplete_expired') then b.subscription_status end as status,
       s.charges_enabled, s.payouts_enabled,
       (select verified_state from agents where id = $3) as verified,
       (select coalesce(json_agg(t order by t), '[]') from (select body ->> 'template' as t from outbox
          where consumer = 'mail' and body ->> 'to' in (b2.email, s.email) and body ->> 'template' <> all ($4)) m) as mails,
       (select count(*)::int from notices n where n.user_id in (b2.id, s.id)) as notices
     from users b2 left join billing_customers b on b.user_id = b2.id, users s where b2.id = $1 and s.id = $2`,
    [buyer.id, seller.id, agent, OF_CHANGES],
  );
  const { status, paused_reason } = await statusOf(buyer, agent);
  const { body: pending } = await buyer.call("GET", "/api/v1/billing/pending-payment");
  const { body: billing } = await buyer.call("GET", "/api/v1/billing/status");
  const { status: bought, checkout_url } = await readPurchase(buyer, purchase);
  const { body: sales } = await seller.call("GET", SALES);
  const { body: offered } = await buyer.call("GET", `${LISTINGS}?page_size=100`);
  return {
    row,
    plan: await planOf(service, buyer.id),
    atProvider: service.stripe.subscriptions(customer).map((one) => one.status),
    billing,
    pending: { ...pending, url: typeof pending.url },
    certification: { status, paused_reason },
    bought,
    page: checkout_url,
    traces: await traces(service, purchase),
    sales: sales.items.map((sale: object) => Object.values(sale).filter((value) => typeof value === "number")),
    earned: { ...sales, items: undefined },
    isOffered: offered.items.some(({ id }: { id: string }) => id === listing.id),
    toPayBack: [
      ...new Set(service.logs.slice(logs).flatMap((line) => /a [a-z ]+: pay it back[a-z ]*/.exec(line)?.[0] ?? [])),
    ].toSorted(),
  };
}

it("the money is the same whatever the order in which its events come, and which of them come at all", {
  timeout: 240_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(lives, orders, async (life, order) => {
      const natural = await settleDown();
      let logs = service.logs.length;
      let told = service.stripe.events.length;
      await live(natural, life, async () => {
        const from = told;
        told = service.stripe.events.length;
        await deliverNew(from);
        told = service.stripe.events.length;
      });
      await service.settled();
      const expected = await endOf(natural, logs);
      const other = await settleDown();
      logs = service.logs.length;
      const from = service.stripe.events.length;
      await live(other, life, async () => undefined);
      const delivered = await deliverInOrder(from, order);
      await service.settled();
      const said = `${JSON.stringify(life)}\n${delivered.join("\n")}`;
      expect(await endOf(other, logs), said).toEqual(expected);
    }),
    { numRuns: RUNS },
  );
});
