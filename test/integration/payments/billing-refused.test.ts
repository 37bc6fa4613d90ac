import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent } from "../runs/support.ts";
import {
  CANCEL,
  CHECKOUT,
  customerOf,
  openCheckout,
  PENDING,
  PORTAL,
  shopper,
  signatureOf,
  subscriber,
  variant,
  WEBHOOK,
} from "./billing-support.ts";
import { buy, shortenSuites } from "./certify-support.ts";
import { addListing, newSeller, PURCHASES } from "./marketplace-support.ts";

let service: TestService;

beforeAll(async () => {
  service = await startService({ stripe: true });
  await shortenSuites(service);
});

afterAll(() => service.stop());

const PRO = { tier: "pro", cadence: "monthly" };
const NOT_SET_UP = [503, "payment_not_configured"];

/** What the provider says of a call, in its form. */
type Refusal = [status: number, error: { type: string; message: string; code?: string; param?: string }];

/** The service as it is where the provider answers a call to this path, with what is `sent`, with a refusal. */
const refusedAt = (path: RegExp, [status, error]: Refusal, logs: string[] = [], sent = /^/) =>
  variant(
    service,
    {},
    {
      log: (line) => void logs.push(line),
      fetch: async (input, init) =>
        path.test(new URL(input instanceof Request ? input.url : input).pathname) &&
        sent.test(typeof init?.body === "string" ? init.body : "")
          ? Response.json({ error }, { status })
          : fetch(input, init),
    },
  );

describe("what the operator has set up wrongly", () => {
  it("is no key of the provider: every call says that payments are not set up, and the log what the provider says", async () => {
    const { user } = await subscriber(service);
    const logs: string[] = [];
    const keyed = variant(service, { STRIPE_SECRET_KEY: "sk_test_rolled" }, { log: (line) => void logs.push(line) });
    const here = await keyed.signIn(user);
    for (const [method, path, body] of [
      ["POST", CHECKOUT, PRO],
      ["POST", PORTAL],
      ["POST", CANCEL],
      ["GET", PENDING],
    ] as const) {
      const answer = await here.call(method, path, body);
      expect([path, answer.status, answer.body.code]).toEqual([path, ...NOT_SET_UP]);
    }
    expect(logs.filter((line) => line.includes("Invalid API Key") && /"level":"error"/.test(line))).toHaveLength(4);
    const event = JSON.stringify(
      service.stripe.events.findLast(({ type }) => type === "customer.subscription.created"),
    );
    const retold = event.replace(/"id":"evt_/, '"id":"evt_again_');
    const answer = await keyed.call("POST", WEBHOOK, retold, { "stripe-signature": signatureOf(service, retold) });
    expect([answer.status, answer.body.code]).toEqual(NOT_SET_UP);
  });

  it.each<[string, RegExp, Refusal, string]>([
    [
      "a restricted key without a right",
      /billing_portal/,
      [403, { type: "invalid_request_error", message: "The provided key does not have the required permissions." }],
      PORTAL,
    ],
    [
      "a portal that was never saved",
      /billing_portal/,
      [
        400,
        { type: "invalid_request_error", message: "No configuration provided and your default has not been created." },
      ],
      PORTAL,
    ],
    [
      "Connect that was never turned on",
      /v1\/accounts$/,
      [
        400,
        { type: "invalid_request_error", message: "You can only create new accounts if you've signed up for Connect." },
      ],
      "/api/v1/marketplace/seller-account",
    ],
  ])("is %s", async (_what, path, refusal, called) => {
    const logs: string[] = [];
    const here = await refusedAt(path, refusal, logs).signIn(await shopper(service));
    const { status, body } = await here.call("POST", called);
    expect([status, body.code]).toEqual(NOT_SET_UP);
    expect(logs.some((line) => line.includes(refusal[1].message) && /"level":"error"/.test(line))).toBe(true);
  });

  it.each([
    ["of another mode", "price_elsewhere"],
    ["that is paid once", "STRIPE_PRICE_CERTIFICATION"],
  ])("is the price %s of a plan, which can be bought as soon as the setting is right", async (_what, set) => {
    const user = await shopper(service);
    const wrong = variant(service, { STRIPE_PRICE_PRO_MONTHLY: service.settings[set] ?? set });
    const { status, body } = await (await wrong.signIn(user)).call("POST", CHECKOUT, PRO);
    expect([status, body.code]).toEqual(NOT_SET_UP);
    expect(await openCheckout(user)).toMatch(/^cs_/);
    expect(await customerOf(service, user.id)).toMatch(/^cus_/);
  });

  it("is the price of a certification, which can be bought as soon as the setting is right", async () => {
    const user = await shopper(service);
    const agent = await addAgent(user, { endpoint: "http://127.0.0.1:9/" });
    const wrong = variant(service, { STRIPE_PRICE_CERTIFICATION: "price_elsewhere" });
    const { status, body } = await buy(await wrong.signIn(user), agent);
    expect([status, body.code]).toEqual(NOT_SET_UP);
    expect((await buy(user, agent)).body.kind).toBe("checkout");
  });
});

describe("a checkout that the provider refused", () => {
  const message = "In order to use Checkout, you must set an account or business name.";

  /** Answers as the provider does: what it refused it keeps under its key, for whoever uses that again. */
  function refusing() {
    const kept = new Map<string, string>();
    let isMended = false;
    const answer = (error: object, headers = {}) => Response.json({ error }, { status: 400, headers });
    const here = variant(
      service,
      {},
      {
        fetch: async (input, init) => {
          const path = new URL(input instanceof Request ? input.url : input).pathname;
          if (init?.method !== "POST" || !path.endsWith("checkout/sessions")) return fetch(input, init);
          const key = new Headers(init.headers).get("idempotency-key") ?? "";
          const [body, known] = [typeof init.body === "string" ? init.body : "", kept.get(key)];
          if (known === undefined && isMended) return fetch(input, init);
          if (known !== undefined && known !== body)
            return answer({ type: "idempotency_error", message: "Other keys" });
          kept.set(key, body);
          return answer(
            { type: "invalid_request_error", message },
            known === undefined ? {} : { "idempotent-replayed": "true" },
          );
        },
      },
    );
    return { here, mend: () => void (isMended = true) };
  }

  it("keeps no other plan from being bought, nor the same one, however often it was tried", async () => {
    const { here, mend } = refusing();
    const [one, two] = [await here.signIn(await shopper(service)), await here.signIn(await shopper(service))];
    for (const user of [one, two])
      for (let tries = 0; tries < 7; tries += 1) {
        const { status, body } = await user.call("POST", CHECKOUT, tries % 2 === 0 ? PRO : { ...PRO, tier: "team" });
        expect([tries, status, body.code]).toEqual([tries, ...NOT_SET_UP]);
      }
    mend();
    expect(await openCheckout(one, "team", "yearly")).toMatch(/^cs_/);
    expect(await openCheckout(two)).toMatch(/^cs_/);
  });

  it("keeps no certification and no hired agent from being bought, however often they were tried", async () => {
    const { here, mend } = refusing();
    const buyer = await shopper(service);
    const user = await here.signIn(buyer);
    const agent = await addAgent(buyer, { endpoint: "http://127.0.0.1:9/" });
    const { id: listing_id } = await addListing(await newSeller(service));
    const hire = () => user.call("POST", PURCHASES, { listing_id });
    for (let tries = 0; tries < 7; tries += 1)
      expect([(await buy(user, agent)).body.code, (await hire()).body.code]).toEqual([NOT_SET_UP[1], NOT_SET_UP[1]]);
    mend();
    expect([(await buy(user, agent)).status, (await hire()).status]).toEqual([200, 200]);
  });
});

describe("a change of plan", () => {
  it("without a means of payment at the provider says where to add one", async () => {
    const { user } = await subscriber(service);
    const message = "This customer has no attached payment source or default payment method.";
    const refusal: Refusal = [400, { type: "invalid_request_error", code: "resource_missing", message }];
    const here = await refusedAt(/subscriptions\/sub_/, refusal).signIn(user);
    const { status, body } = await here.call("POST", CHECKOUT, { tier: "team", cadence: "monthly" });
    expect([status, body.code, body.detail]).toEqual([402, "payment_failed", expect.stringContaining(PORTAL)]);
  });
});

describe("an address that the provider takes for none", () => {
  const refusal: Refusal = [
    400,
    { type: "invalid_request_error", code: "email_invalid", message: "Invalid email address" },
  ];
  const narrow = () => refusedAt(/v1/, refusal, [], /email=[^&]/);

  it("does not keep its account from buying a plan, nor one that was changed to it", async () => {
    const user = await shopper(service);
    const here = await narrow().signIn(user);
    const session = await openCheckout(here);
    const customer = () => service.stripe.customers().find(({ metadata }) => metadata["user_id"] === user.id);
    expect(customer()?.email).toBeFalsy();
    expect(await openCheckout(user)).toBe(session);
    const other = await subscriber(service);
    await service.sql("update users set email = 'new-' || email where id = $1", [other.user.id]);
    expect((await (await narrow().signIn(other.user)).call("POST", PORTAL)).body.kind).toBe("portal");
    expect(service.stripe.customers().find(({ id }) => id === other.customer)?.email).toBeFalsy();
  });

  it("does not keep it from buying a certification", async () => {
    const user = await shopper(service);
    const agent = await addAgent(user, { endpoint: "http://127.0.0.1:9/" });
    expect((await buy(await narrow().signIn(user), agent)).body.kind).toBe("checkout");
  });
});

describe("a purchase", () => {
  it("from a seller in a region that the platform can't pay into says so, and keeps nothing open", async () => {
    const [seller, buyer] = [await newSeller(service), await shopper(service)];
    const listing = await addListing(seller);
    const message =
      "Cannot create a destination charge for connected accounts in US because funds would be settled on the platform " +
      "and the connected account is outside the platform's region.";
    const here = await refusedAt(/checkout\/sessions$/, [400, { type: "invalid_request_error", message }]).signIn(
      buyer,
    );
    const { status, body } = await here.call("POST", PURCHASES, { listing_id: listing.id });
    expect([status, body.code]).toEqual([409, "seller_not_ready"]);
    expect(await service.sql("select status from purchases where listing_id = $1", [listing.id])).toEqual([
      { status: "FAILED" },
    ]);
  });
});
