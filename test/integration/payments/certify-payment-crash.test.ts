import type Stripe from "stripe";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { deliverAll } from "./billing-support.ts";
import {
  certificationsOf,
  deliverEvent,
  holdQueue,
  openCheckout,
  payCheckout,
  releaseQueue,
  screeningsOf,
  sessionKeys,
} from "./certify-payment-support.ts";
import { answersFor, buy, goOn, paidBy, runsOf, shortenSuites, statusOf } from "./certify-support.ts";
import { type Crash, crashAtEach } from "../runs/crash-support.ts";
import { assertMoney } from "./money-support.ts";
import { addAgent, from, quietQueueClient, startAgent, used } from "../runs/support.ts";

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
const letGo = () => releaseQueue(service);
const deliver = (event: Stripe.Event) => deliverEvent(service, event);
const rows = () => certificationsOf(service, agent);
const screenings = () => screeningsOf(service, agent);

describe.each<Crash>(["down", "lost"])("a crash (%s) at any call", (crash) => {
  let addresses = 0;
  /** Goes on with another agent, from an address of its own. */
  const another = async (): Promise<void> => {
    addresses += 1;
    const headers = { authorization: `Bearer ${owner.token}`, ...from(256 * (tests + 1) + addresses) };
    Object.assign(owner, caller(service, headers));
    agent = await addAgent(owner, { endpoint: endpoint.url });
  };

  it("of a checkout leaves one, once it is asked for again", async () => {
    const crashes = await crashAtEach(service, crash, {
      arrange: another,
      work: () => buy(owner, agent),
      async check() {
        const { id } = await open();
        const price = service.settings["STRIPE_PRICE_CERTIFICATION"];
        expect(await rows()).toEqual([{ id }]);
        expect(new Set(sessions())).toEqual(new Set([`certification-${id}-${price}`]));
      },
    });
    expect(crashes).toBeGreaterThanOrEqual(3);
  });

  it("of a payment's event leaves one screening, once it is delivered again", async () => {
    const crashes = await crashAtEach(service, crash, {
      async arrange() {
        service.faults.set({ service: "qstash", mode: "error" });
        await service.sql("delete from allowances");
        await another();
        return pay((await open()).session).completed;
      },
      work: deliver,
      async check(event) {
        expect(await deliver(event)).toBe(200);
        await service.settled();
        expect([await screenings(), await runsOf(service, agent)]).toEqual([1, { queued: RUNS }]);
        expect(await paidBy(service, agent)).toEqual({ certification: RUNS });
      },
    });
    await letGo();
    expect(crashes).toBeGreaterThanOrEqual(4);
  });

  it("of a refund's event ends the certification, once it is delivered again", async () => {
    const crashes = await crashAtEach(service, crash, {
      async arrange() {
        service.faults.set({ service: "qstash", mode: "error" });
        await service.sql("delete from allowances");
        await another();
        const { completed, paymentIntent } = pay((await open()).session);
        await deliver(completed);
        return service.stripe.refund(paymentIntent)[0] as Stripe.Event;
      },
      work: deliver,
      async check(event) {
        expect(await deliver(event)).toBe(200);
        await service.settled();
        expect([(await statusOf(owner, agent)).status, await runsOf(service, agent)]).toEqual([
          "refunded",
          { cancelled: RUNS },
        ]);
        expect(await used(service, "user", owner.id)).toBe(0);
      },
    });
    await letGo();
    expect(crashes).toBeGreaterThanOrEqual(5);
  });

  it("of the verdict leaves one, with its credential, once its message comes again", async () => {
    const crashes = await crashAtEach(service, crash, {
      async arrange() {
        await another();
        const { id, session } = await open();
        await hold(() => deliverAll(service, service.stripe.pay(session)));
        await service.sql(
          "update runs set status = 'completed', passed = true, correctness = 1, evidence_cost_usd = 0 where agent_id = $1",
          [agent],
        );
        return id;
      },
      work: (id) => goOn(service, id),
      async check(id) {
        expect(await goOn(service, id)).toBe(200);
        expect(await statusOf(owner, agent)).toMatchObject({ status: "certified", score: 90 });
        expect((await owner.call("GET", `/api/v1/agents/${agent}/credential`)).status).toBe(200);
      },
    });
    expect(crashes).toBeGreaterThanOrEqual(5);
  });
});
