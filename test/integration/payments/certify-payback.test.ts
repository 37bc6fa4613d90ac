import type Stripe from "stripe";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, quietQueueClient, unique } from "../runs/support.ts";
import { deliverAll } from "./billing-support.ts";
import { holdQueue, openCheckout, payCheckout } from "./certify-payment-support.ts";
import { shortenSuites, statusOf } from "./certify-support.ts";

/** Of an agent that nobody calls. */
const endpoint = "http://127.0.0.1:9/";

let service: TestService;
let owner: User;

beforeAll(async () => {
  quietQueueClient();
  service = await startService({ stripe: true });
  await shortenSuites(service);
  owner = await newUser(service, { plan: "enterprise" });
});

afterAll(async () => {
  expect(service.stripe.refused).toEqual([]);
  await service.stop();
});

/** All orders of some things. */
function orders<T>(all: readonly T[]): T[][] {
  if (all.length === 0) return [[]];
  return all.flatMap((one, index) => orders(all.toSpliced(index, 1)).map((rest) => [one, ...rest]));
}

const twin = (event: Stripe.Event): Stripe.Event => ({ ...event, id: unique("evt_twin").replace(" ", "_") });

/** How much of the 39 US dollars goes back, what becomes of the certification, and how often the log says that a refund was lost. */
const STORIES: [string, (intent: string) => Stripe.Event[], status: string, lost: RegExp | null][] = [
  [
    "by a refund that the bank does not take",
    (intent) => [...service.stripe.refund(intent), ...service.stripe.failRefund(intent)],
    "refunded",
    /failed/,
  ],
  [
    "by a refund that is called off",
    (intent) => [...service.stripe.refund(intent), ...service.stripe.cancelRefund(intent)],
    "refunded",
    /was called off/,
  ],
  [
    "in part, by a refund that is called off",
    (intent) => [...service.stripe.refund(intent, 1900), ...service.stripe.cancelRefund(intent)],
    "screening",
    /was called off/,
  ],
  [
    "in part, after another part was called off",
    (intent) => [
      ...service.stripe.refund(intent, 1900),
      ...service.stripe.cancelRefund(intent),
      ...service.stripe.refund(intent, 2000),
    ],
    "screening",
    /was called off/,
  ],
  [
    "by two refunds, of which one is called off",
    (intent) => [
      ...service.stripe.refund(intent, 1900),
      ...service.stripe.refund(intent, 2000),
      ...service.stripe.cancelRefund(intent),
    ],
    "refunded",
    /was called off/,
  ],
  [
    "in part, by a dispute that is lost",
    (paymentIntent) => service.stripe.dispute({ paymentIntent, amount: 1900 }, "lost"),
    "screening",
    null,
  ],
  [
    "by a lost dispute whose amount follows the rate of the buyer's currency",
    (paymentIntent) => service.stripe.dispute({ paymentIntent, amount: 3871 }, "lost"),
    "refunded",
    null,
  ],
  [
    "by a refund and a lost dispute that are all of it together",
    (paymentIntent) => [
      ...service.stripe.refund(paymentIntent, 1900),
      ...service.stripe.dispute({ paymentIntent, amount: 2000 }, "lost"),
    ],
    "refunded",
    null,
  ],
];

describe("the price of a certification that goes back", () => {
  it.each(STORIES)("%s has one end in every order of the events", async (_what, goBack, status, lost) => {
    const heard = /^(checkout|charge\.refunded|charge\.dispute|refund\.(failed|updated))/;
    const agent = await addAgent(owner, { endpoint });
    const { id, session } = await openCheckout(service, owner, agent);
    const { completed, paymentIntent } = payCheckout(service, session);
    const events = [completed, ...goBack(paymentIntent)].filter(({ type }) => heard.test(type));
    const ends = [];
    for (const order of orders(events)) {
      await service.sql(
        "update certifications set status = 'awaiting_payment', paid_at = null, payment_intent_id = null where id = $1",
        [id],
      );
      const before = service.logs.length;
      await holdQueue(service, () => deliverAll(service, order.map(twin)));
      const lines = service.logs.slice(before).filter((line) => line.includes("pay it back in another way"));
      ends.push({
        order: order.map(({ type }) => type).join(),
        status: (await statusOf(owner, agent)).status,
        lost: lines.length,
        words: lines.every((line) => lost?.test(line)),
      });
    }
    expect(ends).toEqual(ends.map(({ order }) => ({ order, status, lost: lost === null ? 0 : 1, words: true })));
  });
});

describe("a payment by bank debit that fails", () => {
  const mails = (agent: string) =>
    service.mailbox.list().filter(({ to, text }) => to === owner.email && text.includes(agent));

  it("is mailed once to its buyer, whose certification is gone with it; a page that ran out is not", async () => {
    const agent = await addAgent(owner, { endpoint });
    const first = await openCheckout(service, owner, agent);
    await deliverAll(service, service.stripe.expire(first.session));
    const { session } = await openCheckout(service, owner, agent);
    await deliverAll(service, service.stripe.pay(session, { later: true }));
    await service.settled();
    expect(mails(agent)).toEqual([]);
    const events = service.stripe.settleLater(session, false);
    await deliverAll(service, [...events, ...events.map(twin)]);
    await service.settled();
    expect((await statusOf(owner, agent)).status).toBe("none");
    expect(mails(agent)).toMatchObject([{ subject: "The payment of a certification failed" }]);
    expect(mails(agent)[0]?.text).toMatch(new RegExp(`nothing was charged[^]*/agents/${agent}/certify`));
  });
});
