import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { clientOf, type Harness, hold, KEYS, START, startConsumer, startHarness } from "../../stack/broker/harness.ts";
import { backoffMs } from "../../stack/broker/retry.ts";

let harness: Harness;
beforeEach(async () => {
  vi.spyOn(console, "error").mockReturnValue(undefined);
  harness = await startHarness();
});
afterEach(() => harness.stop());

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe("flow control", () => {
  test("keeps each key's parallelism, and makes use of it, over 100 messages", async () => {
    const { client, broker, consumer } = harness;
    const active: Record<string, number> = { a: 0, b: 0 };
    const most: Record<string, number> = { a: 0, b: 0 };
    consumer.answer = async ({ headers }) => {
      const key = String(headers["x-key"]);
      active[key] = (active[key] ?? 0) + 1;
      most[key] = Math.max(most[key] ?? 0, active[key]);
      for (const _turn of numbers(20)) await setImmediate();
      active[key] -= 1;
      return { status: 200 };
    };
    await client.batchJSON(
      numbers(100).map((n) => {
        const key = n % 4 === 0 ? "b" : "a";
        return {
          url: consumer.url,
          body: n,
          headers: { "x-key": key },
          flowControl: { key, parallelism: key === "a" ? 4 : 2 },
        };
      }),
    );
    await broker.idle();
    expect(consumer.seen).toHaveLength(100);
    expect(most).toEqual({ a: 4, b: 2 });
  });

  test("a key that is stuck keeps no other from being served", async () => {
    const { client, consumer } = harness;
    consumer.answer = (request) => (request.headers["x-key"] === "stuck" ? hold(request) : { status: 200 });
    const message = (key: string) => ({
      url: consumer.url,
      body: {},
      headers: { "x-key": key },
      flowControl: { key, parallelism: 1 },
    });
    await client.batchJSON([message("stuck"), message("stuck"), message("free"), message("free")]);
    await consumer.count(3);
    expect(consumer.seen.map(({ headers }) => headers["x-key"])).toEqual(["stuck", "free", "free"]);
  });

  test("keeps a rate per period", async () => {
    const { client, broker, consumer } = harness;
    const flowControl = { key: "k", rate: 3, period: "1m" as const };
    await client.batchJSON(numbers(7).map((body) => ({ url: consumer.url, body, flowControl })));
    await broker.idle();
    const seen = [consumer.seen.length];
    for (const ms of [59_999, 1, 59_999, 1]) {
      await broker.advance(ms);
      seen.push(consumer.seen.length);
    }
    expect(seen).toEqual([3, 3, 6, 6, 7]);
  });
});

describe("queues", () => {
  test("keep the order, the next message waiting for the retries of the one before", async () => {
    const { client, broker, consumer } = harness;
    consumer.answer = ({ headers, body }) => ({
      status: body.toString() === "0" && headers["upstash-retried"] === "0" ? 500 : 200,
    });
    const queue = client.queue({ queueName: "q" });
    for (const body of numbers(3)) await queue.enqueueJSON({ url: consumer.url, body });
    await broker.advance(backoffMs(1) - 1);
    expect(consumer.bodies()).toEqual([0]);
    expect(await queue.get()).toMatchObject({ name: "q", parallelism: 1, lag: 3, paused: false });
    await broker.advance(1);
    expect(consumer.bodies()).toEqual([0, 0, 1, 2]);
  });

  test("go on after a message that died or was cancelled", async () => {
    const { client, broker, consumer } = harness;
    consumer.answer = ({ body }) => ({ status: body.toString() === "2" ? 200 : 500 });
    const queue = client.queue({ queueName: "q" });
    await queue.enqueueJSON({ url: consumer.url, body: 0, retries: 0 });
    const { messageId } = await queue.enqueueJSON({ url: consumer.url, body: 1 });
    await queue.enqueueJSON({ url: consumer.url, body: 2 });
    await broker.idle();
    expect(consumer.bodies()).toEqual([0, 1]);
    await client.messages.cancel(messageId);
    await broker.idle();
    expect(consumer.bodies()).toEqual([0, 1, 2]);
  });

  test("keep the order also where a rate lets the next message pass", async () => {
    const { client, broker, consumer } = harness;
    consumer.answer = ({ headers }) => ({ status: headers["upstash-retried"] === "0" ? 500 : 200 });
    const message = { url: consumer.url, retries: 1, flowControl: { key: "k", rate: 1 } };
    const queue = client.queue({ queueName: "q" });
    for (const body of numbers(2)) await queue.enqueueJSON({ ...message, body });
    await broker.advance(2 * backoffMs(1) + 1000);
    expect(consumer.bodies()).toEqual([0, 0, 1, 1]);
  });

  test("have a parallelism, can be paused, resumed, listed and deleted", async () => {
    const { client, broker, consumer } = harness;
    const queue = client.queue({ queueName: "q" });
    consumer.answer = hold;
    await queue.upsert({ parallelism: 2, paused: true });
    await client.batchJSON(numbers(3).map((body) => ({ url: consumer.url, body, queueName: "q" })));
    await broker.idle();
    expect(consumer.seen).toHaveLength(0);
    await queue.resume();
    await consumer.count(2);
    expect(broker.stats()).toMatchObject({ pending: 1, in_flight: 2 });
    await queue.pause();
    expect(await queue.list()).toMatchObject([{ name: "q", parallelism: 2, paused: true, lag: 3 }]);
    await queue.delete();
    expect(await queue.list()).toEqual([]);
    expect(broker.stats()).toMatchObject({ pending: 0 });
  });
});

describe("schedules", () => {
  const HOUR = 3_600_000;

  test("publish at the cron expression's times in its zone, across the change to daylight time", async () => {
    // Nine in New York is 14:00 UTC in winter and 13:00 UTC from 8 March 2026 on.
    const spring = await startHarness({ now: () => Date.UTC(2026, 2, 7, 13) });
    const { client, broker, consumer } = spring;
    const cron = "CRON_TZ=America/New_York 0 9 * * *";
    const { scheduleId } = await client.schedules.create({ destination: consumer.url, cron, body: "{}" });
    const seen: number[] = [];
    for (const ms of [HOUR - 1, 1, 23 * HOUR - 1, 1, 24 * HOUR - 1, 1]) {
      await broker.advance(ms);
      seen.push(consumer.seen.length);
    }
    expect(seen).toEqual([0, 1, 1, 2, 2, 3]);
    expect(consumer.seen[0]?.headers["upstash-schedule-id"]).toBe(scheduleId);
    await spring.stop();
  });

  test("can be read, replaced, paused, resumed and deleted", async () => {
    const { client, broker, consumer } = harness;
    const schedule = { scheduleId: "nightly", destination: consumer.url, body: '{"v":1}', retries: 1 };
    await client.schedules.create({ ...schedule, cron: "0 * * * *" });
    await client.schedules.create({ ...schedule, cron: "30 * * * *" });
    expect(await client.schedules.list()).toHaveLength(1);
    expect(await client.schedules.get("nightly")).toMatchObject({
      scheduleId: "nightly",
      cron: "30 * * * *",
      destination: consumer.url,
      body: '{"v":1}',
      retries: 1,
      isPaused: false,
      createdAt: START,
      nextScheduleTime: START + HOUR / 2,
    });
    await broker.advance(HOUR);
    expect(consumer.seen).toHaveLength(1);
    await client.schedules.pause({ schedule: "nightly" });
    await broker.advance(5 * HOUR);
    expect(consumer.seen).toHaveLength(1);
    await client.schedules.resume({ schedule: "nightly" });
    await broker.advance(HOUR);
    expect(consumer.seen).toHaveLength(2);
    await client.schedules.delete("nightly");
    await broker.advance(HOUR);
    expect(consumer.seen).toHaveLength(2);
  });

  test.each(["* * * *", "61 * * * *", "CRON_TZ=Mars/Olympus 0 9 * * *", "every day"])("refuse %s", async (cron) => {
    const { client, consumer } = harness;
    await expect(client.schedules.create({ destination: consumer.url, cron })).rejects.toMatchObject({ status: 400 });
  });
});

describe("chaos", () => {
  test("duplicate makes every delivery twice, and counts the message once", async () => {
    const { client, broker, consumer } = harness;
    broker.setChaos({ duplicate: true });
    await client.batchJSON(numbers(20).map((body) => ({ url: consumer.url, body })));
    await broker.idle();
    const times = Map.groupBy(consumer.bodies(), (body) => body);
    expect([...times.values()].map(({ length }) => length)).toEqual(numbers(20).map(() => 2));
    expect(broker.stats().delivered).toBe(20);
    broker.setChaos({ duplicate: false });
    await client.publishJSON({ url: consumer.url, body: "once" });
    await broker.idle();
    expect(consumer.seen).toHaveLength(41);
  });

  test("shuffle delivers all, in another order", async () => {
    const { client, broker, consumer } = harness;
    broker.setChaos({ shuffle: true });
    const flowControl = { key: "one", parallelism: 1 };
    await client.batchJSON(numbers(50).map((body) => ({ url: consumer.url, body, flowControl })));
    await broker.idle();
    const order = consumer.bodies() as number[];
    expect(order).not.toEqual(numbers(50));
    expect(order.toSorted((a, b) => a - b)).toEqual(numbers(50));
  });
});

describe("with a file", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "broker-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  test("what was waiting, delayed or in flight when the process was killed is delivered by the next one", async () => {
    const dbFile = join(directory, "broker.db");
    const source = `
      import { startBroker } from ${JSON.stringify(join(import.meta.dirname, "../../stack/broker/broker.ts"))};
      import { createCounters } from ${JSON.stringify(join(import.meta.dirname, "../../stack/counters.ts"))};
      import { createFaults } from ${JSON.stringify(join(import.meta.dirname, "../../stack/faults.ts"))};
      const broker = await startBroker({
        ...${JSON.stringify({ ...KEYS, dbFile })}, faults: createFaults(), counters: createCounters(),
      });
      console.log(broker.url);`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", source], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const url = String(await new Promise((resolve) => child.stdout.once("data", resolve))).trim();
    const { consumer } = harness;
    consumer.answer = hold;
    const client = clientOf(url);
    const flowControl = { key: "k", parallelism: 1 };
    await client.batchJSON(["in flight", "waiting"].map((body) => ({ url: consumer.url, body, flowControl })));
    await client.publishJSON({ url: consumer.url, body: "delayed", delay: 3600 });
    await client.schedules.create({ destination: consumer.url, cron: "0 0 1 1 *", scheduleId: "yearly" });
    await consumer.count(1);
    const killed = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await killed;

    consumer.answer = () => ({ status: 200 });
    const next = await startHarness({ dbFile, now: Date.now });
    await next.broker.idle();
    expect(consumer.bodies()).toEqual(["in flight", "in flight", "waiting"]);
    expect(await next.client.schedules.list()).toMatchObject([{ scheduleId: "yearly" }]);
    await next.broker.advance(3_600_000);
    expect(consumer.bodies().at(-1)).toBe("delayed");
    await next.stop();
    const last = await startHarness({ dbFile, now: Date.now });
    await last.broker.idle();
    expect(consumer.seen).toHaveLength(4);
    await last.stop();
  });

  test("dead letters, queues, deduplication and virtual time outlive a restart", async () => {
    const dbFile = join(directory, "broker.db");
    const first = await startHarness({ dbFile });
    harness.consumer.answer = () => ({ status: 500 });
    const message = { url: harness.consumer.url, body: {}, retries: 0, deduplicationId: "d" };
    const { messageId } = await first.client.publishJSON(message);
    await first.client.queue({ queueName: "q" }).upsert({ parallelism: 7 });
    await first.broker.advance(60_000);
    await first.stop();

    const second = await startHarness({ dbFile });
    expect((await second.client.dlq.listMessages()).messages).toMatchObject([{ messageId }]);
    expect(await second.client.queue({ queueName: "q" }).get()).toMatchObject({ parallelism: 7 });
    expect(await second.client.publishJSON(message)).toEqual({ messageId, deduplicated: true });
    const later = await second.client.publishJSON({ ...message, deduplicationId: "e", delay: 1 });
    expect(await second.client.messages.get(later.messageId)).toMatchObject({ createdAt: START + 60_000 });
    await second.stop();
  });
});

test("a thousand messages are delivered whole, each once", async () => {
  const { client, broker, consumer } = harness;
  for (const hundred of numbers(10)) {
    await client.batchJSON(numbers(100).map((n) => ({ url: consumer.url, body: 100 * hundred + n })));
  }
  await broker.idle();
  expect((consumer.bodies() as number[]).toSorted((a, b) => a - b)).toEqual(numbers(1000));
});

test("of a large answer the first mebibyte is kept", async () => {
  const { client, broker } = harness;
  const big = await startConsumer();
  big.answer = () => ({ status: 500, body: Buffer.alloc(3 * 1024 * 1024, "x") });
  await client.publishJSON({ url: big.url, body: {}, retries: 0 });
  await broker.idle();
  const [letter] = (await client.dlq.listMessages()).messages;
  expect(letter?.responseBody).toHaveLength(1024 * 1024);
  await big.stop();
});
