import { Client, QstashError, Receiver } from "@upstash/qstash";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { signature } from "../../stack/broker/delivery.ts";
import { clientOf, type Harness, hold, KEYS, START, startHarness } from "../../stack/broker/harness.ts";

let harness: Harness;
beforeEach(async () => {
  vi.spyOn(console, "error").mockReturnValue(undefined);
  harness = await startHarness();
});
afterEach(() => harness.stop());

const publishRaw = (headers: Record<string, string>, destination = harness.consumer.url): Promise<Response> =>
  fetch(`${harness.broker.url}/v2/publish/${destination}`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEYS.token}`, ...headers },
    body: "{}",
  });

describe("publishing", () => {
  test("delivers the body with forwarded headers, the method, the query and QStash's own headers", async () => {
    const { client, broker, consumer } = harness;
    const url = `${consumer.url}?a=1&b=x%2Fy`;
    const { messageId } = await client.publishJSON({ url, method: "PUT", body: { n: 1 }, headers: { "X-Run": "r1" } });
    await broker.idle();
    const [request] = consumer.seen;
    expect(request).toMatchObject({
      method: "PUT",
      headers: {
        "content-type": "application/json",
        "x-run": "r1",
        "upstash-message-id": messageId,
        "upstash-retried": "0",
      },
    });
    expect(request?.url.search).toBe("?a=1&b=x%2Fy");
    expect(consumer.bodies()).toEqual([{ n: 1 }]);
    expect(broker.stats()).toEqual({ pending: 0, in_flight: 0, delivered: 1, retried: 0, dead: 0 });
  });

  test("delivers a batch, answering in its order", async () => {
    const { client, broker, consumer, counters } = harness;
    const batch = [0, 1, 2].map((n) => ({ url: consumer.url, body: { n } }));
    const ids = (await client.batchJSON(batch)).map((receipt) => ("messageId" in receipt ? receipt.messageId : ""));
    await broker.idle();
    const byId = new Map(consumer.seen.map(({ headers, body }) => [headers["upstash-message-id"], body.toString()]));
    expect(ids.map((id) => byId.get(id))).toEqual(['{"n":0}', '{"n":1}', '{"n":2}']);
    expect(counters.snapshot().qstash).toEqual({ requests: 1, messages: 3 });
  });

  test("refuses a wrong token with 401", async () => {
    const { broker, consumer } = harness;
    const call = clientOf(broker.url, "wrong").publishJSON({ url: consumer.url, body: {} });
    await expect(call).rejects.toMatchObject({ status: 401 });
  });

  test.each([
    "https://127.0.0.1:1/x",
    "http://example.com/x",
    "http://10.0.0.1/x",
    "http://x.localhost/x",
    "http://127.0.0.1.example.com/x",
    "http://127.0.0.1@example.com/x",
    "a-url-group",
  ])("refuses the destination %s", async (destination) => {
    const response = await publishRaw({}, destination);
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/loopback addresses only|invalid destination/);
  });

  test.each([
    ["Upstash-Deduplication-Id", "run:1", "DeduplicationId cannot contain ':'"],
    ["Upstash-Flow-Control-Key", "agent:1", "flowControlKey must be alphanumeric, hyphen, underscore, or period"],
    ["Upstash-Label", "a b", "label must be"],
    ["Upstash-Delay", "10", "invalid Upstash-Delay"],
    ["Upstash-Delay", "10w", "invalid Upstash-Delay"],
    ["Upstash-Not-Before", "tomorrow", "invalid upstash-not-before"],
    ["Upstash-Retries", "-1", "invalid upstash-retries"],
    ["Upstash-Retry-Delay", "pow(2, retried", "invalid Upstash-Retry-Delay"],
    ["Upstash-Retry-Delay", "constructor(1)", "invalid Upstash-Retry-Delay"],
    ["Upstash-Timeout", "soon", "invalid Upstash-Timeout"],
    ["Upstash-Method", "BREW", "invalid Upstash-Method"],
    ["Upstash-Callback", "http://example.com", "loopback addresses only"],
    ["Upstash-Failure-Callback", "http://example.com", "loopback addresses only"],
  ])("refuses %s: %s", async (name, value, reason) => {
    const response = await publishRaw({ [name]: value });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { error: string }).error).toContain(reason);
  });

  test("takes nothing of a batch with a malformed message", async () => {
    const { client, broker, consumer } = harness;
    const batch = [
      { url: consumer.url, body: 1 },
      { url: "http://example.com", body: 2 },
    ];
    await expect(client.batchJSON(batch)).rejects.toBeInstanceOf(QstashError);
    await broker.idle();
    expect(consumer.seen).toEqual([]);
  });

  test("does nothing under an error fault, and all but the answer under a lost one", async () => {
    const { client, broker, consumer, faults, counters } = harness;
    const publish = (): Promise<unknown> => client.publishJSON({ url: consumer.url, body: {} });
    faults.set({ service: "qstash", mode: "error", count: 1 });
    await expect(publish()).rejects.toMatchObject({ status: 500 });
    faults.set({ service: "qstash", mode: "lost", count: 1 });
    await expect(publish()).rejects.toThrow("fetch failed");
    await broker.idle();
    expect(consumer.seen).toHaveLength(1);
    expect(counters.snapshot().qstash).toEqual({ requests: 2, messages: 1 });
  });
});

describe("when a message is due", () => {
  test.each([
    ["delay in seconds", { delay: 10 }, 10_000],
    ["delay as a duration", { delay: "2h" as const }, 7_200_000],
    ["notBefore", { notBefore: START / 1000 + 60 }, 60_000],
    ["notBefore in the past", { notBefore: START / 1000 - 60 }, 0],
  ])("%s", async (_name, when, ms) => {
    const { client, broker, consumer } = harness;
    await client.publishJSON({ url: consumer.url, body: {}, ...when });
    if (ms > 0) {
      await broker.advance(ms - 1);
      expect(consumer.seen).toHaveLength(0);
      expect(broker.stats().pending).toBe(1);
      await broker.advance(1);
    }
    await broker.idle();
    expect(consumer.seen).toHaveLength(1);
  });

  test("virtual time delivers consequences that fall due on the way", async () => {
    const { client, broker, consumer } = harness;
    consumer.answer = async () => {
      if (consumer.seen.length < 3) await client.publishJSON({ url: consumer.url, body: {}, delay: 30 });
      return { status: 200 };
    };
    await client.publishJSON({ url: consumer.url, body: {}, delay: 30 });
    await broker.advance(89_999);
    expect(consumer.seen).toHaveLength(2);
    await broker.advance(1);
    expect(consumer.seen).toHaveLength(3);
  });

  test("virtual time comes on top of the real time that its deliveries take", async () => {
    let now = START;
    const slow = await startHarness({ now: () => now });
    slow.consumer.answer = () => {
      now += 5000;
      return { status: 200 };
    };
    await slow.client.publishJSON({ url: slow.consumer.url, body: {}, delay: 5 });
    await slow.client.publishJSON({ url: slow.consumer.url, body: {}, delay: 25 });
    await slow.broker.advance(10_000);
    expect([slow.consumer.seen.length, now]).toEqual([1, START + 5000]);
    await slow.broker.advance(9999);
    expect(slow.consumer.seen).toHaveLength(1);
    await slow.broker.advance(1);
    expect(slow.consumer.seen).toHaveLength(2);
    await slow.stop();
  });

  test("real time passes by itself", async () => {
    const live = await startHarness({ now: Date.now });
    const before = Date.now();
    await live.client.publishJSON({ url: live.consumer.url, body: {}, delay: 1 });
    await live.consumer.count(1);
    expect(Date.now() - before).toBeGreaterThanOrEqual(999);
    await live.stop();
  });
});

describe("deduplication", () => {
  test("answers a repeated id with the first message for ten minutes", async () => {
    const { client, broker, consumer } = harness;
    const publish = () => client.publishJSON({ url: consumer.url, body: {}, deduplicationId: "run-1" });
    const first = await publish();
    await broker.advance(599_999);
    expect(await publish()).toEqual({ messageId: first.messageId, deduplicated: true });
    await broker.advance(1);
    expect((await publish()).messageId).not.toBe(first.messageId);
    await broker.idle();
    expect(consumer.seen).toHaveLength(2);
  });

  test("by content takes url, body and forwarded headers into account", async () => {
    const { client, consumer } = harness;
    const publish = (body: unknown, header: string, path = "") =>
      client.publishJSON({
        url: consumer.url + path,
        body,
        headers: { "x-h": header },
        contentBasedDeduplication: true,
      });
    const first = await publish({ a: 1 }, "h");
    expect(await publish({ a: 1 }, "h")).toEqual({ messageId: first.messageId, deduplicated: true });
    for (const other of [publish({ a: 2 }, "h"), publish({ a: 1 }, "i"), publish({ a: 1 }, "h", "/x")]) {
      expect(await other).not.toHaveProperty("deduplicated");
    }
  });

  test("applies within a batch", async () => {
    const { client, consumer } = harness;
    const message = { url: consumer.url, deduplicationId: "same" };
    const receipts = await client.batchJSON([
      { ...message, body: 1 },
      { ...message, body: 2 },
    ]);
    expect(receipts[1]).toEqual({ ...receipts[0], deduplicated: true });
  });
});

describe("signatures", () => {
  const body = '{"n":"ü"}';
  const delivered = async (): Promise<{ signature: string; url: string }> => {
    const { client, broker, consumer } = harness;
    await client.publish({ url: consumer.url, body });
    await broker.idle();
    return { signature: String(consumer.seen[0]?.headers["upstash-signature"]), url: consumer.url };
  };
  const receiver = (current: string, next: string): Receiver =>
    new Receiver({ currentSigningKey: current, nextSigningKey: next, devMode: false });

  test("are accepted with the current key, and as the next one after a rotation", async () => {
    const request = { ...(await delivered()), body };
    await expect(receiver(KEYS.currentSigningKey, KEYS.nextSigningKey).verify(request)).resolves.toBe(true);
    await expect(receiver("sig_rotated", KEYS.currentSigningKey).verify(request)).resolves.toBe(true);
  });

  test("are accepted after virtual time has passed, since receivers go by real time", async () => {
    await harness.broker.advance(86_400_000);
    const request = { ...(await delivered()), body };
    await expect(receiver(KEYS.currentSigningKey, KEYS.nextSigningKey).verify(request)).resolves.toBe(true);
  });

  test("are refused with another key, body or url, and when forged or expired", async () => {
    const request = { ...(await delivered()), body };
    const genuine = receiver(KEYS.currentSigningKey, KEYS.nextSigningKey);
    const seconds = Math.floor(Date.now() / 1000);
    const signed = (key: string, at: number): string => signature(key, request.url, Buffer.from(body), at);
    await expect(genuine.verify({ ...request, signature: signed(KEYS.nextSigningKey, seconds) })).resolves.toBe(true);
    await expect(receiver("sig_x", "sig_y").verify(request)).rejects.toThrow();
    await expect(genuine.verify({ ...request, body: '{"n":"u"}' })).rejects.toThrow("body hash");
    await expect(genuine.verify({ ...request, url: `${request.url}/x` })).rejects.toThrow("invalid subject");
    await expect(genuine.verify({ ...request, signature: signed("sig_forged", seconds) })).rejects.toThrow();
    await expect(
      genuine.verify({ ...request, signature: signed(KEYS.currentSigningKey, seconds - 301) }),
    ).rejects.toThrow();
  });
});

describe("messages in waiting", () => {
  test("can be read and cancelled, one or many by label", async () => {
    const { client, broker, consumer } = harness;
    const publish = (label: string) => client.publishJSON({ url: consumer.url, body: { label }, delay: 60, label });
    const [one, two, three] = [await publish("a"), await publish("b"), await publish("b")];
    expect(await client.messages.get(one.messageId)).toMatchObject({
      messageId: one.messageId,
      url: consumer.url,
      method: "POST",
      body: '{"label":"a"}',
      maxRetries: 3,
      notBefore: START + 60_000,
      createdAt: START,
      labels: ["a"],
    });
    expect(await client.messages.cancel({ filter: { label: "b" } })).toEqual({ cancelled: 2 });
    expect(await client.messages.cancel([one.messageId, two.messageId, three.messageId])).toEqual({ cancelled: 1 });
    await expect(client.messages.get(one.messageId)).rejects.toMatchObject({ status: 404 });
    await broker.advance(60_000);
    expect(consumer.seen).toEqual([]);
  });

  test("one cancelled in flight is not retried", async () => {
    const { client, broker, consumer } = harness;
    consumer.answer = hold;
    const { messageId } = await client.publishJSON({ url: consumer.url, body: {} });
    await consumer.count(1);
    expect(broker.stats()).toMatchObject({ pending: 0, in_flight: 1 });
    await client.messages.cancel(messageId);
    await consumer.stop();
    await broker.advance(3_600_000);
    expect(broker.stats()).toEqual({ pending: 0, in_flight: 0, delivered: 0, retried: 0, dead: 0 });
  });

  test("have their steps logged, newest first", async () => {
    const { client, broker, consumer } = harness;
    const { messageId } = await client.publishJSON({ url: consumer.url, body: {} });
    await client.publishJSON({ url: consumer.url, body: {} });
    await broker.idle();
    const { logs } = await client.logs({ messageIds: [messageId] });
    expect(logs.map(({ state }) => state)).toEqual(["DELIVERED", "ACTIVE", "CREATED"]);
  });
});

test("a plain client with its default retries rides out a cut connection", async () => {
  vi.spyOn(console, "warn").mockReturnValue(undefined);
  const { broker, consumer, faults } = harness;
  faults.set({ service: "qstash", mode: "down", count: 1 });
  const client = new Client({ baseUrl: broker.url, token: KEYS.token, devMode: false });
  await client.publishJSON({ url: consumer.url, body: {} });
  await broker.idle();
  expect(consumer.seen).toHaveLength(1);
});
