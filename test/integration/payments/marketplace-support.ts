import type Stripe from "stripe";
import { expect } from "vitest";
import { createApplication } from "../../../functions/app.ts";
import { type Answer, type Caller, newUser, type User } from "../../stack/client.ts";
import type { TestService } from "../../stack/service.ts";
import type { Settings } from "../../stack/settings.ts";
import { assertMoney } from "./money-support.ts";
import { addAgent, unique } from "../runs/support.ts";

const MARKET = "/api/v1/marketplace";
export const SELLER = `${MARKET}/seller-account`;
export const LISTINGS = `${MARKET}/listings`;
export const PURCHASES = `${MARKET}/purchases`;
export const SALES = `${MARKET}/sales`;

/** The body of an answer with this status; throws on any other. */
export function bodyOf<T>(answer: Answer<T>, status: number): T {
  if (answer.status !== status) throw new Error(`${answer.status} instead of ${status}: ${answer.text}`);
  return answer.body;
}

/** Delivers events one after the other; throws unless each is taken. */
export async function deliver(service: TestService, events: readonly Stripe.Event[]): Promise<void> {
  for (const event of events) {
    const { status, body } = await service.stripe.deliver(event);
    if (status !== 200) throw new Error(`${event.type}: ${status} ${JSON.stringify(body)}`);
  }
}

/** The connected account of a user. */
export async function accountOf(service: TestService, user: User): Promise<string> {
  const [row] = await service.sql<{ id: string }>("select account_id as id from seller_accounts where user_id = $1", [
    user.id,
  ]);
  if (row === undefined) throw new Error("no connected account");
  return row.id;
}

/** Has the provider enable or disable a seller, and tell. */
export async function enable(service: TestService, seller: User, enabled = true): Promise<void> {
  const flags = { charges_enabled: enabled, payouts_enabled: enabled };
  await deliver(service, service.stripe.onboard(await accountOf(service, seller), flags));
}

/** A user who can be paid. */
export async function newSeller(service: TestService): Promise<User> {
  const seller = await newUser(service, { plan: "pro", verified: true });
  bodyOf(await seller.call("POST", SELLER), 200);
  await enable(service, seller);
  return seller;
}

/** Lists an agent of the seller, a new one unless `fields` name it. */
export async function addListing(
  seller: User,
  fields: { agent_id?: string; title?: string; price_usd?: number } = {},
): Promise<{ id: string; agent_id: string }> {
  const agent_id = fields.agent_id ?? (await addAgent(seller));
  const body = { title: "For hire", price_usd: 10, ...fields, agent_id };
  return bodyOf(await seller.call("POST", LISTINGS, body), 201);
}

/** A purchase as the interface shows it. */
export interface Purchase {
  id: string;
  status: "AWAITING_PAYMENT" | "COMPLETED" | "FAILED";
  checkout_url: string | null;
  hired_agent_id: string | null;
}

/** Begins to buy; returns the purchase. */
export async function begin(buyer: Caller, listingId: string): Promise<Purchase> {
  return bodyOf(await buyer.call<Purchase>("POST", PURCHASES, { listing_id: listingId }), 201);
}

/** The checkout session of a purchase. */
export async function sessionOf(service: TestService, { id }: Purchase): Promise<string> {
  const [row] = await service.sql<{ id: string }>("select checkout_session_id as id from purchases where id = $1", [
    id,
  ]);
  return row?.id ?? "";
}

/** Buys a listing, up to the clone; returns the purchase as it then is. */
export async function hire(service: TestService, buyer: Caller, listingId: string): Promise<Purchase> {
  const purchase = await begin(buyer, listingId);
  await deliver(service, service.stripe.pay(await sessionOf(service, purchase)));
  return readPurchase(buyer, purchase);
}

/** A purchase as it is now. */
export async function readPurchase(buyer: Caller, { id }: Purchase): Promise<Purchase> {
  return bodyOf(await buyer.call<Purchase>("GET", `${PURCHASES}/${id}`), 200);
}

/** Calls the service under other settings, over the same database. */
export async function callUnder(
  service: TestService,
  settings: Settings,
  user: User,
  path: string,
  body?: object,
): Promise<{ status: number; code: string }> {
  const app = createApplication({ ...service.settings, ...settings }, { log: () => undefined });
  const request = new Request(`${service.url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${user.token}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const execution = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };
  const response = await app.fetch(request, {}, execution);
  const { code } = (await response.json()) as { code: string };
  return { status: response.status, code };
}

export const CONFIGURATION = { model: "m-1", temperature: 0.2, prompt: "the recipe" };

/** Lists a new agent with a configuration that nobody has bought yet. */
export async function listRecipe(seller: User): Promise<{ id: string; agent_id: string }> {
  const agent_id = await addAgent(seller, { name: unique("Recipe"), declared_configuration: CONFIGURATION });
  return addListing(seller, { agent_id, price_usd: 25.5 });
}

/** All that a completed purchase leaves, counted. */
export async function traces(service: TestService, { id }: Purchase): Promise<object> {
  await service.settled();
  const [found] = await service.sql<object>(
    `select p.status,
       (select count(*)::int from agents a where a.id = p.hired_agent_id) as clones,
       (select count(*)::int from agents a where a.user_id = p.buyer_id and a.variant_of = p.agent_id) as variants,
       (select count(*)::int from revenue r where r.purchase_id = p.id) as revenue,
       (select count(*)::int from analytics_events e where e.name = 'playbook_hired'
          and e.properties ->> 'purchase_id' = p.id::text) as noted
     from purchases p where p.id = $1`,
    [id],
  );
  return found ?? {};
}

/** What a purchase leaves that is completed. */
export const ONCE = { status: "COMPLETED", clones: 1, variants: 1, revenue: 1, noted: 1 };
/** What one leaves that failed. */
export const NEVER = { status: "FAILED", clones: 0, variants: 0, revenue: 0, noted: 0 };

/** Holds the books against each other and against what the provider charged buyers, once each. */
export async function assertBooked(service: TestService): Promise<void> {
  await service.settled();
  await assertMoney(service);
  const events = service.stripe.events.filter(({ type }) => type === "charge.succeeded");
  const charges = events.map(({ data }) => data.object as Stripe.Charge);
  expect(new Set(charges.map(({ payment_intent }) => payment_intent)).size).toBe(charges.length);
  const [booked] = await service.sql<{ usd: number }>("select coalesce(sum(gross_usd), 0)::float as usd from revenue");
  const paid = charges.reduce((sum, { amount }) => sum + amount, 0);
  expect(booked?.usd, "revenue is what buyers were charged").toBeCloseTo(paid / 100, 2);
  expect(service.stripe.refused, "what the provider does not know").toEqual([]);
}
