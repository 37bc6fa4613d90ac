import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Harness, hold, startHarness } from "../../stack/broker/harness.ts";
import { QSTASH, QSTASH_BATCH_MESSAGES, type QStashPlan, qstashPlan } from "../../stack/limits.ts";

const DAY_MS = 86_400_000;
// Long enough for a loaded machine; what is waited for comes within milliseconds.
const PATIENCE = { timeout: 20_000 };
const PLANS = Object.keys(QSTASH) as QStashPlan[];

let harness: Harness | undefined;
beforeEach(() => void vi.spyOn(console, "error").mockReturnValue(undefined));
afterEach(() => harness?.stop());

async function on(plan: QStashPlan, options: Parameters<typeof startHarness>[0] = {}): Promise<Harness> {
  harness = await startHarness({ plan, ...options });
  return harness;
}

test("QSTASH_PLAN names a plan, or is refused; without one it is pay as you go", () => {
  expect([qstashPlan(), ...PLANS.map((name) => qstashPlan(name))]).toEqual(["pay_as_you_go", ...PLANS]);
  expect(() => qstashPlan("gold")).toThrow("QSTASH_PLAN must be one of free, pay_as_you_go, fixed_1m, fixed_10m: gold");
});

interface PublishRequest {
  retries?: number;
  delay?: number;
  body?: string;
}

describe.each(PLANS)("on the plan %s", (plan) => {
  const { retries, delayMs, messageBytes, parallelism, responseMs } = QSTASH[plan];
  const delay = delayMs / 1000;
  const cases: [quota: string, within: PublishRequest, beyond: PublishRequest][] = [
    ["maxRetries", { retries }, { retries: retries + 1 }],
    ["maxMessageSize", { body: "x".repeat(messageBytes) }, { body: "x".repeat(messageBytes + 1) }],
  ];
  if (Number.isFinite(delay)) cases.push(["maxDelay", { delay }, { delay: delay + 1 }]);

  test.each(cases)(
    "a message beyond %s is refused, alone or in a batch, and one within it is not",
    async (...given) => {
      const [quota, within, beyond] = given;
      const { client, consumer } = await on(plan);
      consumer.answer = hold;
      const { url } = consumer;
      const taken = { messageId: expect.stringMatching(/^msg_/) };
      expect(await client.publish({ ...within, url })).toEqual(taken);
      expect(await client.batch([{ ...beyond, url }, { url }])).toEqual([{ error: `quota ${quota} exceeded` }, taken]);
      await expect(client.publish({ ...beyond, url })).rejects.toMatchObject({ status: 400 });
    },
  );

  test("a delivery is given up when the plan says so, though its message would wait longer", async () => {
    const { client, consumer } = await on(plan);
    consumer.answer = hold;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      await client.publish({ url: consumer.url, timeout: responseMs / 1000 + 60 });
      await consumer.count(1);
      vi.advanceTimersByTime(responseMs - 1);
      await client.publish({ url: consumer.url });
      await consumer.count(2);
      expect(consumer.seen[0]?.gone.aborted).toBe(false);
      vi.advanceTimersByTime(1);
      await expect.poll(() => consumer.seen[0]?.gone.aborted, PATIENCE).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  test(`no more than ${parallelism} deliveries are under way at once`, async () => {
    const { client, broker, consumer } = await on(plan);
    consumer.answer = hold;
    for (let sent = 0; sent <= parallelism; sent += 50) {
      await client.batch(Array.from({ length: 50 }, () => ({ url: consumer.url })));
    }
    await consumer.count(parallelism);
    expect(broker.stats().in_flight).toBe(parallelism);
  });
});

test("a batch of more messages than the service keeps to is refused whole", async () => {
  const { client, broker, consumer } = await on("fixed_10m");
  consumer.answer = hold;
  const batch = (size: number) => client.batch(Array.from({ length: size }, () => ({ url: consumer.url })));
  await expect(batch(QSTASH_BATCH_MESSAGES + 1)).rejects.toMatchObject({ status: 400 });
  expect(broker.stats()).toMatchObject({ pending: 0, in_flight: 0 });
  expect(await batch(QSTASH_BATCH_MESSAGES)).toHaveLength(QSTASH_BATCH_MESSAGES);
});

test("a day's messages are counted without repetitions, and the next day brings new ones", async () => {
  const { client, broker, consumer } = await on("free");
  const url = consumer.url;
  const batch = (deduplicationId?: string) =>
    client.batch(
      Array.from({ length: 100 }, () => ({ url, ...(deduplicationId === undefined ? {} : { deduplicationId }) })),
    );
  await batch("same");
  for (let hundreds = 0; hundreds < 9; hundreds += 1) await batch();
  expect(await batch("same")).toHaveLength(100);
  await batch();
  await broker.idle();
  await expect(client.publish({ url })).rejects.toMatchObject({ name: "QstashDailyRatelimitError", limit: "1000" });
  await broker.advance(DAY_MS);
  await expect(client.publish({ url })).resolves.toHaveProperty("messageId");
});
