import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Harness, hold, START, startConsumer, startHarness } from "../../stack/broker/harness.ts";
import { backoffMs } from "../../stack/broker/retry.ts";
import { durationMs, evaluate } from "../../stack/broker/values.ts";
import { CUT, json } from "../../stack/http.ts";

let harness: Harness;
beforeEach(async () => {
  vi.spyOn(console, "error").mockReturnValue(undefined);
  harness = await startHarness();
});
afterEach(() => harness.stop());

/** Expects the next attempt exactly `ms` from now. */
async function expectNextAttemptIn(ms: number): Promise<void> {
  const { broker, consumer } = harness;
  await broker.idle();
  const before = consumer.seen.length;
  if (ms > 0) await broker.advance(ms - 1);
  expect(consumer.seen).toHaveLength(before);
  await broker.advance(Math.min(ms, 1));
  expect(consumer.seen).toHaveLength(before + 1);
}

describe("backoff", () => {
  test("is min(86400, e^(2.5 n)) seconds, to the millisecond", () => {
    expect([1, 2, 3, 4, 5, 6].map(backoffMs)).toEqual([12_182, 148_413, 1_808_042, 22_026_466, 86_400_000, 86_400_000]);
  });

  test.each([
    ["500", 500],
    ["404", 404],
    ["a redirect", 302],
    ["489 without its header", 489],
  ])("follows %s, three times by default, then the message is dead", async (_name, status) => {
    const { client, broker, consumer } = harness;
    consumer.answer = () => ({ status, headers: { location: "/elsewhere" } });
    await client.publishJSON({ url: consumer.url, body: {} });
    await consumer.count(1);
    for (const n of [1, 2, 3]) await expectNextAttemptIn(backoffMs(n));
    await broker.advance(10 * 86_400_000);
    expect(consumer.seen.map(({ headers }) => headers["upstash-retried"])).toEqual(["0", "1", "2", "3"]);
    expect(new Set(consumer.seen.map(({ headers }) => headers["upstash-message-id"])).size).toBe(1);
    expect(broker.stats()).toEqual({ pending: 0, in_flight: 0, delivered: 0, retried: 3, dead: 1 });
  });

  test("ends with the first success", async () => {
    const { client, broker, consumer } = harness;
    consumer.answer = ({ headers }) => ({ status: headers["upstash-retried"] === "1" ? 204 : 503 });
    await client.publishJSON({ url: consumer.url, body: {} });
    await broker.advance(86_400_000);
    expect(broker.stats()).toEqual({ pending: 0, in_flight: 0, delivered: 1, retried: 1, dead: 0 });
  });

  test("follows a refused or cut connection and an answer that takes longer than the timeout", async () => {
    const { client, broker, consumer } = harness;
    const [gone, cutting] = [await startConsumer(), await startConsumer()];
    await gone.stop();
    cutting.answer = () => CUT;
    consumer.answer = hold;
    await client.publishJSON({ url: gone.url, body: {}, retries: 0 });
    await client.publishJSON({ url: cutting.url, body: {}, retries: 0 });
    await client.publishJSON({ url: consumer.url, body: {}, retries: 1, timeout: 1 });
    await broker.idle();
    expect(broker.stats()).toEqual({ pending: 1, in_flight: 0, delivered: 0, retried: 1, dead: 2 });
    const { messages } = await client.dlq.listMessages();
    expect(new Map(messages.map(({ url, responseStatus }) => [url, responseStatus]))).toEqual(
      new Map([
        [gone.url, 0],
        [cutting.url, 0],
      ]),
    );
    await cutting.stop();
    consumer.answer = () => ({ status: 200 });
    await expectNextAttemptIn(backoffMs(1));
  });
});

describe("the wait that an answer asks for", () => {
  test.each([
    ["retry-after", "0", 0],
    ["retry-after", "10", 10_000],
    ["retry-after", "6m5s", 365_000],
    ["retry-after", "1.5s", 1500],
    ["retry-after", new Date(START + 90_000).toUTCString(), 90_000],
    ["retry-after", new Date(START - 90_000).toUTCString(), 0],
    ["x-ratelimit-reset", "7", 7000],
    ["x-ratelimit-reset-requests", "8s", 8000],
    ["x-ratelimit-reset-tokens", "9000ms", 9000],
    ["retry-after", "86400", 86_400_000],
    ["retry-after", "86401", 12_182],
    ["retry-after", "later", 12_182],
  ])("%s: %s", async (name, value, ms) => {
    const { client, consumer } = harness;
    let answers = 0;
    consumer.answer = () => {
      answers += 1;
      return answers === 1 ? { status: 429, headers: { [name]: value } } : { status: 200 };
    };
    await client.publishJSON({ url: consumer.url, body: {} });
    if (ms === 0) await consumer.count(2);
    else {
      await consumer.count(1);
      await expectNextAttemptIn(ms);
    }
  });

  test("a message's own delay expression replaces the backoff", async () => {
    const { client, consumer } = harness;
    consumer.answer = () => ({ status: 500 });
    await client.publishJSON({ url: consumer.url, body: {}, retryDelay: "max(1500, pow(2, retried) * 1000)" });
    await consumer.count(1);
    for (const ms of [1500, 2000, 4000]) await expectNextAttemptIn(ms);
  });
});

describe("a message that cannot be delivered", () => {
  test("goes to the dead letters at once on 489 with Upstash-NonRetryable-Error", async () => {
    const { client, broker, consumer } = harness;
    consumer.answer = () => json(489, { error: "no" }, { "Upstash-NonRetryable-Error": "true" });
    const { messageId } = await client.publishJSON({ url: consumer.url, body: { n: 1 }, label: "l" });
    await broker.advance(86_400_000);
    expect(consumer.seen).toHaveLength(1);
    const { messages } = await client.dlq.listMessages();
    expect(messages).toMatchObject([
      {
        messageId,
        url: consumer.url,
        body: '{"n":1}',
        responseStatus: 489,
        responseBody: '{"error":"no"}',
        labels: ["l"],
      },
    ]);
  });

  test("is told to its failure callback, once and only after the last retry", async () => {
    const { client, broker, consumer } = harness;
    const failures = await startConsumer();
    consumer.answer = () => json(502, { why: "ü" }, { "x-trace": "t" });
    const { messageId } = await client.publishJSON({
      url: consumer.url,
      body: { n: 1 },
      headers: { "x-run": "r" },
      retries: 1,
      failureCallback: failures.url,
    });
    await broker.advance(backoffMs(1) - 1);
    expect(failures.seen).toEqual([]);
    await broker.advance(86_400_000);
    const { messages } = await client.dlq.listMessages();
    expect(failures.bodies()).toEqual([
      {
        status: 502,
        header: expect.objectContaining({ "x-trace": ["t"] }),
        body: Buffer.from('{"why":"ü"}').toString("base64"),
        retried: 1,
        maxRetries: 1,
        dlqId: messages[0]?.dlqId,
        sourceMessageId: messageId,
        topicName: "",
        endpointName: "",
        url: consumer.url,
        method: "POST",
        sourceHeader: { "content-type": ["application/json"], "x-run": ["r"] },
        sourceBody: Buffer.from('{"n":1}').toString("base64"),
        notBefore: START + backoffMs(1),
        createdAt: START,
        scheduleId: "",
        callerIP: "127.0.0.1",
      },
    ]);
    expect(failures.seen[0]?.headers).toHaveProperty("upstash-signature");
    await failures.stop();
  });

  test("its failure callback is itself retried, as often as the message", async () => {
    const { client, broker, consumer } = harness;
    const failures = await startConsumer();
    consumer.answer = () => ({ status: 500 });
    failures.answer = () => ({ status: 500 });
    await client.publishJSON({ url: consumer.url, body: {}, retries: 1, failureCallback: failures.url });
    await broker.advance(2 * 86_400_000);
    expect(failures.seen).toHaveLength(2);
    expect(broker.stats().dead).toBe(2);
    await failures.stop();
  });

  test("can be listed by pages and filters, sent again, and deleted", async () => {
    const { client, broker, consumer } = harness;
    consumer.answer = () => ({ status: 500 });
    const batch = ["a", "b", "c"].map((label) => ({ url: consumer.url, body: { label }, label, retries: 0 }));
    await client.batchJSON(batch);
    await broker.idle();
    const first = await client.dlq.listMessages({ count: 2 });
    const rest = await client.dlq.listMessages({
      count: 2,
      ...(first.cursor !== undefined && { cursor: first.cursor }),
    });
    const all = [...first.messages, ...rest.messages];
    expect(new Set(all.map(({ labels }) => labels?.[0]))).toEqual(new Set(["a", "b", "c"]));
    expect(rest.cursor).toBeUndefined();
    expect((await client.dlq.listMessages({ count: 3 })).cursor).toBeUndefined();
    const onlyB = await client.dlq.listMessages({ filter: { label: "b", responseStatus: 500 } });
    expect(onlyB.messages).toHaveLength(1);

    consumer.answer = () => ({ status: 200 });
    const retried = await client.dlq.retry(onlyB.messages.map(({ dlqId }) => dlqId));
    await broker.idle();
    expect(consumer.seen.at(-1)?.headers["upstash-message-id"]).toBe(retried.responses[0]?.messageId);
    expect(consumer.bodies().at(-1)).toEqual({ label: "b" });

    expect(await client.dlq.delete({ all: true, count: 1 })).toMatchObject({ deleted: 1, cursor: "0" });
    const [left] = (await client.dlq.listMessages()).messages;
    await client.dlq.delete(left?.dlqId ?? "");
    await expect(client.dlq.delete(left?.dlqId ?? "")).rejects.toMatchObject({ status: 404 });
    expect(broker.stats()).toMatchObject({ delivered: 1, dead: 0 });
  });
});

test("a callback hears of every answer", async () => {
  const { client, broker, consumer } = harness;
  const callbacks = await startConsumer();
  consumer.answer = ({ headers }) => json(headers["upstash-retried"] === "0" ? 500 : 200, "x");
  await client.publishJSON({ url: consumer.url, body: {}, callback: callbacks.url });
  await broker.advance(86_400_000);
  expect(callbacks.bodies()).toMatchObject([
    { status: 500, retried: 0 },
    { status: 200, retried: 1, body: Buffer.from('"x"').toString("base64") },
  ]);
  await callbacks.stop();
});

describe("header values", () => {
  test("a delay expression has the value that arithmetic gives it", () => {
    const { tree } = fc.letrec<{ tree: [string, number] }>((tie) => ({
      tree: fc.oneof(
        { depthSize: "small" },
        fc.nat(99).map((n): [string, number] => [String(n), n]),
        fc.constant<[string, number]>(["retried", 3]),
        fc
          .tuple(tie("tree"), fc.constantFrom("+", "-", "*"), tie("tree"))
          .map(([[a, x], sign, [b, y]]): [string, number] => [
            `(${a} ${sign} ${b})`,
            sign === "+" ? x + y : sign === "-" ? x - y : x * y,
          ]),
        fc
          .tuple(tie("tree"), tie("tree"))
          .map(([[a, x], [b, y]]): [string, number] => [`min(${a}, -${b})`, Math.min(x, -y)]),
      ),
    }));
    fc.assert(
      fc.property(tree, ([expression, value]) => {
        expect(evaluate(expression, 3) - value).toBe(0);
      }),
    );
  });

  test.each([
    ["2 + 3 * 4", 14],
    ["10 - 2 - 3", 5],
    ["12 / 3 / 2", 2],
    ["round(exp(0)) + floor(1.9) + ceil(0.1) + abs(-1) + sqrt(4)", 6],
  ])("%s is %d", (expression, value) => {
    expect(evaluate(expression, 0)).toBe(value);
  });

  test.each([
    ["", "x"],
    ["1 +", "x"],
    ["1 2", "x"],
    ["retried(1)", "x"],
    ["sqrt 4", "x"],
    ["toString(1)", "x"],
  ])("%j is no delay expression", (expression) => {
    expect(() => evaluate(expression, 0)).toThrow("invalid Upstash-Retry-Delay");
  });

  test("a duration is the sum of its parts", () => {
    expect(["30s", "5m", "2h", "1d", "1d2h3m4s"].map((text) => durationMs(text, "x"))).toEqual([
      30_000, 300_000, 7_200_000, 86_400_000, 93_784_000,
    ]);
  });
});
