import * as fc from "fast-check";
import { Stripe } from "stripe";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { type Payments, withProvider } from "../../../shared/billing/stripe.ts";
import type { Context } from "../../../shared/platform/context.ts";
import { createLogger } from "../../../shared/platform/log.ts";
import type { FaultMode } from "../../stack/faults.ts";
import type { StripeFake } from "../../stack/stripe/stripe.ts";
import { type StripeHarness, startStripeHarness } from "../../stack/stripe/harness.ts";

// Long enough for a loaded machine; what is waited for comes within milliseconds.
const PATIENCE = { timeout: 20_000 };
let harness: StripeHarness;
let fake: StripeFake;
let stripe: Stripe;
beforeAll(async () => {
  harness = await startStripeHarness();
  ({ fake, stripe } = harness);
});
afterEach(() => harness.faults.set({ service: "provider", mode: "none" }));
afterAll(() => harness.stop());

interface Raw {
  status: number;
  replayed: string | null;
  body: { id?: string; error?: Record<string, string> };
}

/** A call as it goes over the wire. */
async function raw(line: string, form = "", headers: Record<string, string> = {}): Promise<Raw> {
  const [method = "", path = ""] = line.split(" ");
  const response = await fetch(`${fake.url}/v1/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${harness.setting("STRIPE_SECRET_KEY")}`,
      "content-type": "application/x-www-form-urlencoded",
      ...headers,
    },
    body: method === "GET" ? null : form,
  });
  const replayed = response.headers.get("idempotent-replayed");
  return { status: response.status, replayed, body: (await response.json()) as Raw["body"] };
}

describe("parameters", () => {
  test("nest to any depth, by index and without", async () => {
    const price = harness.setting("STRIPE_PRICE_CERTIFICATION");
    const line = (index: string) => `line_items${index}[price]=${price}&line_items${index}[quantity]=3`;
    const rest =
      "mode=payment&success_url=https://a.test/&payment_intent_data[metadata][a.b]=c%26d%5Be%5D&expand[]=line_items";
    for (const index of ["[0]", "%5B0%5D"]) {
      const { body } = await raw("POST checkout/sessions", `${line(index)}&${rest}`);
      expect(body).toMatchObject({ amount_total: 11_700, line_items: { data: [{ quantity: 3 }] } });
    }
    expect(fake.requests.at(-1)).toMatchObject({
      path: "/v1/checkout/sessions",
      params: {
        line_items: [{ price, quantity: "3" }],
        payment_intent_data: { metadata: { "a.b": "c&d[e]" } },
        expand: ["line_items"],
      },
    });
  });

  test("come back as they went, whatever they say", async () => {
    const value = fc.string({ unit: "binary", minLength: 1, maxLength: 50 });
    const metadata = fc.dictionary(fc.stringMatching(/^[a-z_]{1,20}$/), value, { maxKeys: 5 });
    await fc.assert(
      fc.asyncProperty(metadata, async (given) => {
        expect((await stripe.customers.create({ metadata: given })).metadata).toEqual(given);
      }),
      { numRuns: 20 },
    );
  });

  const session = "mode=payment&success_url=https://a.test/&line_items[0]";
  test.each<[string, string, number, object]>([
    ["POST customers", "nickname=x", 400, { code: "parameter_unknown", param: "nickname" }],
    ["GET customers?nickname=x", "", 400, { code: "parameter_unknown", param: "nickname" }],
    [
      "POST checkout/sessions",
      `${session}[prize]=x`,
      400,
      { code: "parameter_unknown", param: "line_items[0][prize]" },
    ],
    ["POST checkout/sessions", "mode=payment", 400, { code: "parameter_missing", param: "line_items" }],
    ["POST checkout/sessions", `${session}[price_data][unit_amount]=1`, 400, { code: "parameter_missing" }],
    ["POST checkout/sessions", `${session}[quantity]=1.5`, 400, { code: "parameter_invalid_integer" }],
    [
      "POST account_links",
      "type=account_onboarding&account=",
      400,
      { code: "parameter_invalid_empty", param: "account" },
    ],
    ["GET customers?limit=101", "", 400, { param: "limit" }],
    ["GET customers?starting_after=cus_none", "", 400, { code: "resource_missing", param: "starting_after" }],
    ["GET customers?expand[0]=data.livemode", "", 400, { type: "invalid_request_error" }],
    ["GET customers/cus_none", "", 404, { code: "resource_missing", param: "id" }],
    ["GET subscriptions/cus_none", "", 404, { code: "resource_missing" }],
    ["POST billing_portal/sessions", "customer=cus_none", 400, { code: "resource_missing", param: "customer" }],
    ["GET accounts/acct_none", "", 403, { code: "account_invalid" }],
    ["GET balance", "", 404, { type: "invalid_request_error" }],
    ["PUT customers", "", 404, { type: "invalid_request_error" }],
  ])("%s with %j is %i, and written down", async (line, form, status, error) => {
    await stripe.customers.create();
    const before = fake.refused.length;
    expect(await raw(line, form)).toMatchObject({
      status,
      body: { error: { type: "invalid_request_error", ...error } },
    });
    const [method = "", path = ""] = line.split(/[ ?]/);
    expect(fake.refused.slice(before)).toEqual([expect.stringContaining(`${method} /v1/${path}: `)]);
  });

  test("need the key", async () => {
    expect(await raw("GET customers", "", { authorization: "Bearer sk_test_other" })).toMatchObject({ status: 401 });
  });
});

describe("an idempotency key", () => {
  const keyed = (key: string, form = "email=a@b.test") => raw("POST customers", form, { "idempotency-key": key });

  test("gives the first answer again, for a day", async () => {
    const first = await keyed("day");
    expect(first).toMatchObject({ status: 200, replayed: null });
    expect(await keyed("day")).toEqual({ ...first, replayed: "true" });
    expect(fake.requests.slice(-2)).toMatchObject([{ idempotencyKey: "day" }, { idempotencyKey: "day" }]);
    expect(fake.events.at(-1)).toMatchObject({ type: "customer.created", request: { idempotency_key: "day" } });
    harness.clock.now += 86_400_000;
    expect((await keyed("day")).body.id).not.toBe(first.body.id);
  });

  test("is for the same parameters of the same route", async () => {
    await keyed("one");
    const error = { type: "idempotency_error" };
    expect(await keyed("one", "email=b@b.test")).toMatchObject({ status: 400, body: { error } });
    expect(await raw("POST accounts", "email=a@b.test", { "idempotency-key": "one" })).toMatchObject({ status: 400 });
    expect(await keyed("x".repeat(256))).toMatchObject({ status: 400 });
  });

  test("keeps a refusal of what was begun, but none of parameters", async () => {
    const { id } = await harness.buyOnce();
    fake.expire(id);
    const expire = () => raw(`POST checkout/sessions/${id}/expire`, "", { "idempotency-key": "refusal" });
    expect([(await expire()).replayed, await expire()]).toMatchObject([null, { status: 400, replayed: "true" }]);
    expect([(await keyed("bad", "emial=x")).status, (await keyed("bad")).status]).toEqual([400, 200]);
  });

  test("is in use while the first call is under way, and free again when that was not done", async () => {
    harness.faults.set({ service: "provider", mode: "hang", count: 1 });
    const first = keyed("slow");
    await vi.waitFor(() => expect(fake.requests.at(-1)?.idempotencyKey).toBe("slow"), PATIENCE);
    const error = { code: "idempotency_key_in_use" };
    expect(await keyed("slow")).toMatchObject({ status: 409, body: { error } });
    harness.faults.set({ service: "provider", mode: "none" });
    const { id } = (await first).body;
    expect(await keyed("slow")).toMatchObject({ body: { id }, replayed: "true" });
    harness.faults.set({ service: "provider", mode: "down", count: 1 });
    await expect(keyed("cut")).rejects.toThrow();
    expect(await keyed("cut")).toMatchObject({ status: 200, replayed: null });
  });

  test("makes one object of many calls at once", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => keyed("many")));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  test("that the SDK makes up is not taken for the caller's", async () => {
    await stripe.customers.create({}, { maxNetworkRetries: 1 });
    expect(fake.requests.at(-1)).toMatchObject({ method: "POST", status: 200, idempotencyKey: undefined });
  });
});

describe("events", () => {
  test("are listed by type and time, the newest first, for 30 days, and read one by one", async () => {
    const created = Math.floor(harness.clock.now / 1000);
    const { customer } = await harness.subscribed();
    const types = ["customer.subscription.created", "invoice.paid"];
    const { data } = await stripe.events.list({ types, created: { gte: created }, limit: 2 });
    expect(data.map(({ type }) => type)).toEqual(types.toReversed());
    const [paid] = data;
    expect(paid).toMatchObject({ api_version: Stripe.API_VERSION, livemode: false, created });
    expect(paid).toMatchObject({ data: { object: { object: "invoice", customer } } });
    expect(await stripe.events.retrieve(paid?.id ?? "")).toEqual(paid);
    harness.clock.now += 1000;
    expect((await stripe.events.list({ type: "invoice.paid", created: { gt: created } })).data).toEqual([]);
    harness.clock.now += 30 * 86_400_000;
    expect((await stripe.events.list({ types })).data).toEqual([]);
  });

  test("are delivered signed; what was forged, changed or kept back is not taken", async () => {
    const [event] = fake.pay((await harness.buyOnce()).id).slice(-1);
    if (event === undefined) throw new Error("paying told nothing");
    expect(await fake.deliver(event)).toEqual({ status: 200, body: { id: event.id } });
    expect((await stripe.events.list({ delivery_success: true, limit: 1 })).data).toMatchObject([{ id: event.id }]);
    const now = Math.floor(harness.clock.now / 1000);
    expect(await fake.deliver(event, { timestamp: now - 300 })).toMatchObject({ status: 200 });
    const body = JSON.stringify({ ...event, id: "evt_forged" });
    const signature = stripe.webhooks.generateTestHeaderString({
      payload: JSON.stringify(event),
      secret: harness.setting("STRIPE_WEBHOOK_SECRET"),
      timestamp: now,
    });
    for (const wrong of [
      { timestamp: now - 301 },
      { secret: "whsec_other" },
      { signature: null },
      { body, signature },
    ]) {
      const answer = await fake.deliver(event, wrong);
      expect(answer).toEqual({ status: 400, body: { error: "StripeSignatureVerificationError" } });
    }
    expect(await fake.deliver(event, { body: "{" })).toEqual({ status: 400, body: { error: "SyntaxError" } });
  });
});

describe("a fault", () => {
  test.each<[FaultMode, number, number]>([
    ["lost", 1, 200],
    ["down", 0, 0],
    ["error", 0, 0],
  ])("%s of one operation does its work %i times, and leaves its key to a retry", async (mode, times, status) => {
    const before = fake.customers().length;
    const create = () => raw("POST customers", "", { "idempotency-key": mode });
    harness.faults.set({ service: "provider", mode, count: 1, path: "POST /v1/customers" });
    expect(await raw("GET customers")).toMatchObject({ status: 200 });
    expect(await create().catch(() => ({ status: 0 }))).toMatchObject({ status: mode === "error" ? 500 : 0 });
    expect([fake.customers().length - before, fake.requests.at(-1)?.status]).toEqual([times, status]);
    expect(await create()).toMatchObject({ status: 200, replayed: mode === "lost" ? "true" : null });
    expect(fake.customers()).toHaveLength(before + 1);
  });
});

describe("the service's client", () => {
  const env = () => ({ STRIPE_API_BASE: fake.url, STRIPE_SECRET_KEY: harness.setting("STRIPE_SECRET_KEY") });
  const log = createLogger(
    () => undefined,
    () => new Date(harness.clock.now),
  );
  const work = <T>(call: (provider: Payments) => Promise<T>, settings: object = env()): Promise<T> =>
    withProvider({ env: settings as Context["env"], fetch, log }, call);

  test("works over a lost answer, as one call", async () => {
    harness.faults.set({ service: "provider", mode: "lost", count: 1 });
    const before = fake.customers().length;
    await work((provider) => provider.customers.create({}, { idempotencyKey: "lost answer" }));
    expect([fake.customers().length - before, fake.requests.slice(-2)]).toMatchObject([
      1,
      [{ idempotencyKey: "lost answer" }, { idempotencyKey: "lost answer" }],
    ]);
  });

  test.each<[string, () => void, number, string]>([
    ["no answer", () => harness.faults.set({ service: "provider", mode: "down" }), 503, "dependency_unavailable"],
    [
      "an error of the provider's",
      () => harness.faults.set({ service: "provider", mode: "error" }),
      503,
      "dependency_unavailable",
    ],
    [
      "too many requests",
      () => harness.faults.set({ service: "provider", mode: "rate_limited" }),
      503,
      "dependency_unavailable",
    ],
    ["a refused card", () => fake.declineCard(), 402, "payment_failed"],
  ])("says of %s what to do", async (_what, arrange, status, code) => {
    const { subscription, item } = await harness.subscribed();
    arrange();
    const items = [{ id: item, price: harness.setting("STRIPE_PRICE_TEAM_YEARLY") }];
    const change = { items, payment_behavior: "error_if_incomplete" } as const;
    const asked = work((provider) => provider.subscriptions.update(subscription.id, change));
    await expect(asked).rejects.toMatchObject({ status, code });
  });

  test("says of a key that is taken, or not set, what to do; and passes on what is our own fault", async () => {
    const create = (email: string) => (provider: Payments) =>
      provider.customers.create({ email }, { idempotencyKey: "taken" });
    await work(create("a@b.test"));
    await expect(work(create("b@b.test"))).rejects.toMatchObject({ status: 409, code: "payment_in_progress" });
    await expect(work(create("c@b.test"), {})).rejects.toMatchObject({ status: 503, code: "payment_not_configured" });
    const wrong = work((provider) => provider.customers.retrieve("cus_none"));
    await expect(wrong).rejects.toThrow(Stripe.errors.StripeInvalidRequestError);
  });
});
