import type Stripe from "stripe";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { deliverAll, PRODUCTION, signatureOf, toFake, variant, WEBHOOK } from "./billing-support.ts";
import {
  certificationsOf,
  deliverEvent,
  holdQueue,
  openCheckout,
  payCheckout,
  screeningsOf,
  sessionKeys,
} from "./certify-payment-support.ts";
import { answersFor, buy, goOn, paidBy, runsOf, shortenSuites, stateOf, statusOf } from "./certify-support.ts";
import { assertMoney } from "./money-support.ts";
import { addAgent, from, quietQueueClient, range, startAgent, tally, unique, used } from "../runs/support.ts";
import { addTeam, TEAMS } from "../workspaces/teams-support.ts";

const RUNS = 10;

let service: TestService;
let endpoint: Consumer;
let owner: User;
let agent: string;
let tests = 0;

beforeAll(async () => {
  service = await startService({ stripe: true });
  endpoint = await startAgent();
  await shortenSuites(service);
  owner = await newUser(service, { plan: "enterprise" });
  quietQueueClient();
});

afterAll(async () => {
  expect(service.stripe.refused).toEqual([]);
  await assertMoney(service);
  await endpoint.stop();
  await service.stop();
});

beforeEach(async () => {
  endpoint.answer = answersFor(0.001);
  await service.sql("delete from allowances");
  // Each test from an address of its own, so that no limit is shared.
  tests += 1;
  Object.assign(owner, caller(service, { authorization: `Bearer ${owner.token}`, ...from(tests) }));
  agent = await addAgent(owner, { endpoint: endpoint.url });
});

const open = () => openCheckout(service, owner, agent);
const sessions = () => sessionKeys(service, agent);
const pay = (session: string) => payCheckout(service, session);
const hold = (work: () => Promise<unknown>) => holdQueue(service, work);
const deliver = (event: Stripe.Event) => deliverEvent(service, event);
const rows = () => certificationsOf(service, agent);
const screenings = () => screeningsOf(service, agent);

describe("a checkout", () => {
  it("waits for the payment, then screens and certifies", async () => {
    const { id, session, url } = await open();
    expect(url).toMatch(/^https:/);
    expect(await statusOf(owner, agent)).toMatchObject({ certification_id: id, status: "awaiting_payment" });
    expect(await screenings()).toBe(0);
    const { completed, paymentIntent } = pay(session);
    expect(await deliver(completed)).toBe(200);
    await service.settled();
    expect(await statusOf(owner, agent)).toMatchObject({
      status: "certified",
      progress: { total: RUNS, passed: RUNS },
    });
    const [row] = await service.sql(
      "select price_usd, payment_intent_id, checkout_session_id from certifications where id = $1",
      [id],
    );
    expect(row).toEqual({ price_usd: "39.00", payment_intent_id: paymentIntent, checkout_session_id: session });
    const asked = service.stripe.requests.findLast(({ method }) => method === "POST");
    expect(asked).toMatchObject({
      idempotencyKey: `certification-${id}-${service.settings["STRIPE_PRICE_CERTIFICATION"]}`,
      params: {
        mode: "payment",
        line_items: [{ price: service.settings["STRIPE_PRICE_CERTIFICATION"], quantity: "1" }],
        customer_email: owner.email,
        metadata: { kind: "certification", certification_id: id },
      },
    });
  });

  it("is one, though asked for in parallel and again", async () => {
    const answers = await Promise.all(range(8).map(() => buy(owner, agent)));
    const { url } = await open();
    const good = answers.filter(({ status }) => status === 200);
    expect(good.length).toBeGreaterThan(0);
    for (const { body } of good) expect(body).toMatchObject({ kind: "checkout", url });
    for (const { status, body } of answers) if (status !== 200) expect(body.code).toBe("payment_in_progress");
    expect(await rows()).toHaveLength(1);
    expect(new Set(sessions()).size).toBe(1);
  });

  it("that has expired gives way to a new one, whether or not its event came", async () => {
    const first = await open();
    const [expired] = service.stripe.expire(first.session);
    const second = await open();
    expect(second.id).not.toBe(first.id);
    expect(await deliver(expired as Stripe.Event)).toBe(200);
    expect(await rows()).toEqual([{ id: second.id }]);
    await deliverAll(service, service.stripe.expire(second.session));
    expect((await statusOf(owner, agent)).status).toBe("none");
  });

  it("that has expired gives way at once under an Idempotency-Key, too", async () => {
    const first = await open();
    service.stripe.expire(first.session);
    const before = service.stripe.requests.length;
    const key = { "idempotency-key": `afresh-${agent}` };
    const { body, headers } = await buy(owner, agent, {}, key);
    expect(body).toMatchObject({ kind: "checkout", certification_id: expect.not.stringContaining(first.id) });
    expect(headers.get("idempotency-replayed")).toBeNull();
    expect(service.stripe.requests.slice(before).map(({ method, path }) => [method, path])).toEqual([
      ["GET", expect.stringContaining(first.session)],
      ["POST", expect.stringMatching(/checkout\/sessions$/)],
    ]);
    expect((await buy(owner, agent, {}, key)).body).toEqual(body);
  });

  it("gives a repeated Idempotency-Key the same address", async () => {
    const key = { "idempotency-key": `once-${agent}` };
    const first = await buy(owner, agent, {}, key);
    const again = await buy(owner, agent, {}, key);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
  });

  it("that was paid is not sold again before its event came", async () => {
    const { session } = await open();
    pay(session);
    expect(await buy(owner, agent)).toMatchObject({ status: 409, body: { code: "certification_in_progress" } });
    expect((await statusOf(owner, agent)).status).toBe("awaiting_payment");
  });

  it("survives a provider that fails", async () => {
    service.faults.set({ service: "provider", mode: "error", path: "POST /v1/checkout/sessions" });
    expect(await buy(owner, agent)).toMatchObject({ status: 503, body: { code: "dependency_unavailable" } });
    service.faults.set({ service: "provider", mode: "none" });
    await open();
    expect(new Set(sessions()).size).toBe(1);
  });

  it("that replaced another one stays when that one expires", async () => {
    const { id, session } = await open();
    await service.sql("update certifications set checkout_session_id = 'cs_newer' where id = $1", [id]);
    await deliverAll(service, service.stripe.expire(session));
    expect((await statusOf(owner, agent)).status).toBe("awaiting_payment");
  });

  it("whose session our row has not heard of is found by its event", async () => {
    const { id, session } = await open();
    await service.sql("update certifications set checkout_session_id = null where id = $1", [id]);
    await hold(() => deliverAll(service, service.stripe.pay(session)));
    expect((await statusOf(owner, agent)).status).toBe("screening");
  });
});

describe("a workspace that is deleted", () => {
  /** The agent, in a workspace of its own. */
  async function placed(): Promise<string> {
    const team = await addTeam(service, owner);
    expect((await owner.call("POST", `/api/v1/agents/${agent}/transfer-to-workspace`, { team_id: team })).status).toBe(
      200,
    );
    return team;
  }
  const remove = async (team: string): Promise<number> => {
    expect((await owner.call("DELETE", `/api/v1/agents/${agent}`)).status).toBe(204);
    const { status } = await owner.call("DELETE", `${TEAMS}/${team}`);
    await service.settled();
    return status;
  };

  it("leaves no page at which a certification of one of its agents could still be paid", async () => {
    const other = await openCheckout(service, owner, await addAgent(owner, { endpoint: endpoint.url }));
    const team = await placed();
    const { session } = await open();
    expect(await remove(team)).toBe(204);
    expect(await rows()).toEqual([]);
    expect(() => pay(session)).toThrow(/expired/);
    expect(pay(other.session).completed.type, "that of another agent stays").toBe("checkout.session.completed");
  });

  it("leaves a certification that was paid as it is", async () => {
    const team = await placed();
    const { id, session } = await open();
    await hold(() => deliver(pay(session).completed));
    expect(await remove(team)).toBe(204);
    const [row] = await service.sql("select id, paid_at is not null as paid from certifications where agent_id = $1", [
      agent,
    ]);
    expect(row).toEqual({ id, paid: true });
  });

  it("while its page is being paid leaves word of what has to be paid back", async () => {
    const team = await placed();
    const { id, session } = await open();
    const { completed, paymentIntent } = pay(session);
    expect(await remove(team)).toBe(204);
    expect(await deliver(completed)).toBe(200);
    expect(await rows()).toEqual([]);
    const line = service.logs.findLast((entry) => entry.includes("pay it back")) ?? "{}";
    expect(JSON.parse(line)).toMatchObject({
      level: "error",
      certification_id: id,
      payment_intent_id: paymentIntent,
    });
  });
});

describe("the event of a payment", () => {
  it("begins one screening, though it comes fifty times at once", async () => {
    const { session } = await open();
    const { completed } = pay(session);
    // Each takes its time to write, so that they meet unless they take turns.
    await service.sql(`create function dawdle() returns trigger language plpgsql as
      $$ begin perform pg_sleep(0.03); return new; end $$`);
    await service.sql(
      "create trigger dawdle before insert on screening_sessions for each row execute function dawdle()",
    );
    const answers = await Promise.all(range(50).map(() => service.stripe.deliver(completed)));
    await service.sql("drop function dawdle cascade");
    expect(tally(answers)).toEqual({ 200: 50 });
    await service.settled();
    expect([await screenings(), await runsOf(service, agent)]).toEqual([1, { completed: RUNS }]);
    expect(await paidBy(service, agent)).toEqual({ certification: RUNS });
    await service.sql("delete from provider_events where id = $1", [completed.id]);
    expect(await deliver(completed)).toBe(200);
    expect([await screenings(), await paidBy(service, agent)]).toEqual([1, { certification: RUNS }]);
    expect(await used(service, "user", owner.id)).toBe(0);
  });

  it("of another kind, or about no certification of ours, is left alone, the provider not even asked", async () => {
    const { id, session } = await open();
    const before = service.stripe.requests.length;
    for (const metadata of [
      {},
      { kind: "purchase", certification_id: id },
      { kind: "certification" },
      { kind: "certification", certification_id: "1" },
    ]) {
      const object = { id: session, object: "checkout.session", metadata };
      const event = { id: unique("evt"), type: "checkout.session.expired", livemode: false, data: { object } };
      expect(await deliver(event as never)).toBe(200);
    }
    expect(service.stripe.requests.length).toBe(before);
    expect((await statusOf(owner, agent)).status).toBe("awaiting_payment");
  });

  it.each([true, false])("by a method that settles later counts once that is settled (paid: %s)", async (isPaid) => {
    for (const order of ["as they came", "reversed"]) {
      agent = await addAgent(owner, { endpoint: endpoint.url });
      const { session } = await open();
      const events = service.stripe.pay(session, { later: true });
      await deliverAll(service, events);
      expect((await statusOf(owner, agent)).status).toBe("awaiting_payment");
      const settled = service.stripe.settleLater(session, isPaid);
      await hold(() => deliverAll(service, order === "reversed" ? settled.toReversed() : settled));
      await service.sql("delete from provider_events");
      await deliverAll(service, events);
      expect([(await statusOf(owner, agent)).status, await runsOf(service, agent)]).toEqual(
        isPaid ? ["screening", { queued: RUNS }] : ["none", {}],
      );
    }
  });

  it("finds the agent gone, and waits for it instead of blaming it", async () => {
    const { session } = await open();
    await service.sql("update agents set connection_mode = 'mock' where id = $1", [agent]);
    await deliverAll(service, service.stripe.pay(session));
    await service.settled();
    expect(await statusOf(owner, agent)).toMatchObject({
      status: "paused_quota",
      paused_reason: expect.stringContaining("can't be called"),
    });
    await service.sql("update agents set connection_mode = 'http_endpoint' where id = $1", [agent]);
    await service.app.scheduled(EVERY_MINUTE);
    await service.settled();
    expect((await statusOf(owner, agent)).status).toBe("certified");
  });
});

describe("a refund", () => {
  it("in full ends a certification in force, and revokes it; in part it changes nothing", async () => {
    const { id, session } = await open();
    const { completed, paymentIntent } = pay(session);
    await deliver(completed);
    await service.settled();
    await deliverAll(service, service.stripe.refund(paymentIntent, 1000));
    expect((await statusOf(owner, agent)).status).toBe("certified");
    await deliverAll(service, service.stripe.refund(paymentIntent));
    expect([(await statusOf(owner, agent)).status, await stateOf(service, agent)]).toEqual(["refunded", "verified"]);
    expect((await owner.call("GET", `/api/v1/agents/${agent}/credential`)).status).toBe(404);
    expect(await service.sql("select from certifications where id = $1 and revoked_at is not null", [id])).toHaveLength(
      1,
    );
    expect(await buy(owner, agent)).toMatchObject({ status: 200 });
  });

  it("that the payer's bank orders ends it as well; a dispute that was won changes nothing", async () => {
    const { id, session } = await open();
    const { completed, paymentIntent } = pay(session);
    await deliver(completed);
    await service.settled();
    await deliverAll(service, service.stripe.dispute({ paymentIntent }, "won"));
    expect((await statusOf(owner, agent)).status).toBe("certified");
    await deliverAll(service, service.stripe.dispute({ paymentIntent }, "lost"));
    expect(await statusOf(owner, agent)).toMatchObject({ certification_id: id, status: "refunded" });
    expect((await owner.call("GET", `/api/v1/agents/${agent}/credential`)).status).toBe(404);
  });

  it("while it is screened cancels its open runs, and gives back what was not called", async () => {
    const { id, session } = await open();
    const { completed, paymentIntent } = pay(session);
    await hold(() => deliver(completed));
    expect(await paidBy(service, agent)).toEqual({ certification: RUNS });
    await deliverAll(service, service.stripe.refund(paymentIntent));
    await service.settled();
    expect(await runsOf(service, agent)).toEqual({ cancelled: RUNS });
    expect(await used(service, "user", owner.id)).toBe(0);
    expect(await goOn(service, id)).toBe(200);
    expect(await statusOf(owner, agent)).toMatchObject({ status: "refunded", score: null, issued_at: null });
  });

  it("ends the same in every order of the events", async () => {
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ];
    for (const order of orders) {
      agent = await addAgent(owner, { endpoint: endpoint.url });
      const first = await open();
      const expired = service.stripe.expire(first.session);
      const { session } = await open();
      const { completed, paymentIntent } = pay(session);
      const refunded = service.stripe.refund(paymentIntent).filter(({ type }) => type === "charge.refunded");
      const events = [...expired, completed, ...refunded];
      expect(events.map(({ type }) => type)).toEqual([
        "checkout.session.expired",
        "checkout.session.completed",
        "charge.refunded",
      ]);
      const ordered = order.map((place) => events[place] as Stripe.Event);
      await hold(async () => {
        await deliverAll(service, ordered);
        await service.sql("delete from provider_events");
        await Promise.all(range(3).map(() => deliverAll(service, ordered)));
      });
      const { queued = 0, running = 0 } = await runsOf(service, agent);
      expect([order, await rows(), (await statusOf(owner, agent)).status, queued + running]).toEqual([
        order,
        [expect.anything()],
        "refunded",
        0,
      ]);
      expect(await used(service, "user", owner.id), String(order)).toBe(0);
    }
  });
});

describe("production", () => {
  it("grants nothing without a signed event of the payment", async () => {
    const production = variant(service, PRODUCTION, { fetch: toFake(service) });
    const unset = variant(service, { ...PRODUCTION, STRIPE_SECRET_KEY: "" }, { fetch: toFake(service) });
    const [buyer, pennies] = [await production.signIn(owner), await unset.signIn(owner)];
    const granted = () =>
      service.sql(
        "select from certifications where agent_id = $1 and (status <> 'awaiting_payment' or paid_at is not null)",
        [agent],
      );
    expect(await buy(pennies, agent)).toMatchObject({ status: 503, body: { code: "payment_not_configured" } });
    expect(await rows()).toEqual([]);
    expect((await buy(buyer, agent)).body.kind).toBe("checkout");
    const { session } = await open();
    const { completed } = pay(session);
    expect((await buy(buyer, agent)).status).toBe(409);
    const payload = JSON.stringify(completed);
    const forged = { "stripe-signature": signatureOf(service, `${payload} `) };
    for (const headers of [{}, forged])
      expect((await production.call("POST", WEBHOOK, payload, headers)).status).toBe(400);
    await service.app.scheduled(EVERY_MINUTE);
    expect([await granted(), await screenings()]).toEqual([[], 0]);
    const signed = { "stripe-signature": signatureOf(service, payload) };
    await hold(() => production.call("POST", WEBHOOK, payload, signed));
    expect([(await granted()).length, await screenings()]).toEqual([1, 1]);
  });
});
