import { randomUUID } from "node:crypto";
import { decodeJwt } from "jose";
import { Stripe } from "stripe";
import { createApplication } from "../../../functions/app.ts";
import type { Overrides } from "../../../functions/service.ts";
import { issueAccessToken } from "../../../shared/identity/sessions/access-token.ts";
import type { Context } from "../../../shared/platform/context.ts";
import { loadSigningKeys } from "../../../shared/platform/keys.ts";
import { type Caller, caller, type User } from "../../stack/client.ts";
import type { TestService } from "../../stack/service.ts";
import type { Settings } from "../../stack/settings.ts";

export const CHECKOUT = "/api/v1/billing/checkout";
export const PORTAL = "/api/v1/billing/portal";
export const CANCEL = "/api/v1/billing/cancel";
export const PENDING = "/api/v1/billing/pending-payment";
export const WEBHOOK = "/api/v1/payment-provider/webhook";

/** All that is sold. */
export const OFFERS = ["pro", "team"].flatMap((tier) => ["monthly", "yearly"].map((cadence) => ({ tier, cadence })));

export const NOTHING_PENDING = { pending: false, url: null, processing: false, reason: null };

/** What a service in production is set to, besides what it takes from the test's service. */
export const PRODUCTION: Settings = {
  ENVIRONMENT: "production",
  BASE_URL: "https://api.example.test",
  FRONTEND_URL: "https://www.example.test/app/",
  DNS_RESOLVER_URL: "https://dns.example.test/dns-query",
  NEON_LOCAL_PROXY: "",
  RESEND_API_BASE: "",
  STRIPE_API_BASE: "",
};

/** The fetch of a service in production: the payment provider is the fake, and no other host is ever asked. */
export function toFake(service: TestService): typeof fetch {
  return (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== "https://api.stripe.com") throw new Error(`nobody should ask ${url.origin}`);
    return fetch(service.stripe.url + url.pathname + url.search, init);
  };
}

/** A service with other settings, on the same database, stores and provider. */
export interface Variant extends Caller {
  /** The account on this service, whose tokens are its own. */
  signIn(user: User): Promise<Caller>;
}

/** Puts the service together once more, with other settings. */
export function variant(service: TestService, more: Settings, overrides: Overrides = {}): Variant {
  const settings = { ...service.settings, ...more };
  const app = createApplication(settings, { log: () => undefined, ...overrides });
  const execution = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} };
  const as = (own: Record<string, string>): Caller => ({
    async call(method, path, body, headers = {}) {
      const sent = body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body);
      const request = new Request(settings["BASE_URL"] + path, {
        method,
        headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...own, ...headers },
        body: sent,
      });
      const response = await app.fetch(request, {}, execution);
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.includes("json") === true;
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: isJson ? JSON.parse(text) : undefined,
      };
    },
  });
  return {
    ...as({}),
    signIn: async ({ id, token }) => as(await credentials(settings, id, String(decodeJwt(token)["sid"]))),
  };
}

/** What a signed-in account sends with each request, from an address of its own. */
async function credentials(settings: Settings, userId: string, sessionId: string): Promise<Record<string, string>> {
  const parts = {
    env: { BASE_URL: settings["BASE_URL"] },
    keys: () => loadSigningKeys(settings["SIGNING_KEYS"] ?? ""),
    // A minute ago, for services whose clock stands still.
    now: () => new Date(Date.now() - 60_000),
  };
  const token = await issueAccessToken(parts as Context, userId, sessionId);
  const digits = Number.parseInt(userId.slice(-4), 16);
  return { authorization: `Bearer ${token}`, "cf-connecting-ip": `10.77.${digits >> 8}.${digits & 255}` };
}

/** The header that signs an event for a webhook: with the right secret, now, unless said otherwise. */
export function signatureOf(
  service: TestService,
  payload: string,
  how: { secret?: string; timestamp?: number; scheme?: string } = {},
): string {
  const { STRIPE_SECRET_KEY: key = "", STRIPE_WEBHOOK_SECRET: secret = "" } = service.settings;
  return new Stripe(key).webhooks.generateTestHeaderString({ payload, secret, ...how });
}

/** A signed-in account without a password, whose hashing would be most of the work of these tests. */
export async function shopper(service: TestService, plan = "free"): Promise<User> {
  const email = `${randomUUID()}@example.test`;
  const [made] = await service.sql<{ id: string; session: string }>(
    `with u as (insert into users (email, plan) values ($1, $2) returning id)
     insert into sessions (user_id, expires_at) select id, now() + interval '1 day' from u
     returning user_id as id, id as session`,
    [email, plan],
  );
  const { id, session } = made ?? { id: "", session: "" };
  const headers = await credentials(service.settings, id, session);
  const token = headers["authorization"]?.slice("Bearer ".length) ?? "";
  return { id, email, token, ...caller(service, headers) };
}

/** Opens a checkout and returns its session's id. */
export async function openCheckout(who: Caller, tier = "pro", cadence = "monthly"): Promise<string> {
  const { body, text } = await who.call("POST", CHECKOUT, { tier, cadence });
  if (body.kind !== "checkout") throw new Error(text);
  return body.session_id;
}

/** Has every event delivered, in this order. */
export async function deliverAll(service: TestService, events: readonly Stripe.Event[]): Promise<void> {
  for (const event of events) {
    const { status, body } = await service.stripe.deliver(event);
    if (status !== 200) throw new Error(JSON.stringify(body));
  }
}

/** Those of some events that can change a plan. */
export function ofSubscription(events: readonly Stripe.Event[]): Stripe.Event[] {
  return events.filter(({ type }) => type.startsWith("customer.subscription."));
}

/** An account that pays for a plan, with its customer and subscription at the provider. */
export async function subscriber(
  service: TestService,
  tier = "pro",
  cadence = "monthly",
): Promise<{ user: User; customer: string; subscription: string }> {
  const user = await shopper(service);
  await deliverAll(service, ofSubscription(service.stripe.pay(await openCheckout(user, tier, cadence))));
  const customer = await customerOf(service, user.id);
  return { user, customer, subscription: service.stripe.subscriptions(customer)[0]?.id ?? "" };
}

/** An account that has just paid, with the events that nobody delivered yet. */
export async function payer(
  service: TestService,
  tier = "pro",
): Promise<{ user: User; customer: string; created: Stripe.Event; events: Stripe.Event[] }> {
  const user = await shopper(service);
  const events = ofSubscription(service.stripe.pay(await openCheckout(user, tier)));
  const created = events.find(({ type }) => type === "customer.subscription.created") as Stripe.Event;
  return { user, customer: await customerOf(service, user.id), created, events };
}

/** Whether the service knows an event as done. */
export async function isNoted(service: TestService, { id }: Stripe.Event): Promise<boolean> {
  return (await service.sql("select from provider_events where id = $1", [id])).length === 1;
}

/** The account's customer by our rows. */
export async function customerOf(service: TestService, userId: string): Promise<string> {
  const [row] = await service.sql<{ customer_id: string }>(
    "select customer_id from billing_customers where user_id = $1",
    [userId],
  );
  return row?.customer_id ?? "none";
}

/** The plan of an account. */
export async function planOf(service: TestService, userId: string): Promise<string | undefined> {
  return (await service.sql<{ plan: string }>("select plan from users where id = $1", [userId]))[0]?.plan;
}
