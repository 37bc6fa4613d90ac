import { Buffer } from "node:buffer";
import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { CONSUMERS, DELIVERIES } from "../../queues/index.ts";
import { addDeliveries } from "../../shared/queue/deliveries.ts";
import { signature } from "../stack/broker/delivery.ts";
import { QSTASH } from "../stack/limits.ts";
import { looseObjects } from "./json-schema.ts";
import { BASE_URL, sealedService } from "./sealed.ts";

const RUN = { run_id: "01938e7a-0000-7000-8000-000000000001" };

/** A well-formed message for each consumer. */
const MESSAGES: Record<string, Record<string, unknown>> = {
  dispatch: RUN,
  score: RUN,
  expire: RUN,
  mail: {
    id: RUN.run_id,
    to: "reader@example.test",
    template: "verify_email",
    params: { username: null },
    token: "sealed",
  },
  recheck: { agent_id: RUN.run_id },
  announce: {
    id: RUN.run_id,
    type: "run.completed",
    created_at: "2026-11-21T09:00:00.000Z",
    agent_id: RUN.run_id,
    data: {},
  },
  "deliver-due": { webhook_id: RUN.run_id, due: "2026-11-21T09:00:00.000Z" },
  schedule: { schedule_id: RUN.run_id, due_at: "2026-11-21T09:00:00.000Z" },
  regression: { screening_session_id: RUN.run_id },
  settle: { screening_session_id: RUN.run_id },
  certify: { certification_id: RUN.run_id },
  daily: { name: "forget notices", turn: RUN.run_id },
  "cancel-billing": { customer_id: "cus_1" },
  analytics: {
    id: RUN.run_id,
    name: "email_verified",
    user_id: RUN.run_id,
    properties: {},
    occurred_at: "2026-11-21T09:00:00.000Z",
  },
};

/** Fields of messages that take any JSON on purpose. */
const FREE_FORM: Record<string, string[]> = { announce: ["data"] };

const consumers = await Promise.all(Object.values(CONSUMERS).map((load) => load()));
const { service, touched } = await sealedService();
const { QSTASH_CURRENT_SIGNING_KEY: current, QSTASH_NEXT_SIGNING_KEY: next } = service.env;
const now = Math.floor(Date.now() / 1000);
const DEAD = `${BASE_URL}/queues/dead`;

/** Delivers a body to the consumers, none of which does its work; tells what was answered and who was called. */
async function deliver(
  url: string,
  body: string,
  headers: Record<string, string>,
  failing = false,
): Promise<{ status: number; retried: boolean; called: unknown[] }> {
  const called: unknown[] = [];
  const work = (name: string, part: string) => async (_ctx: unknown, given: unknown) => {
    called.push({ name, part, given });
    if (failing) throw new Error("it fails");
  };
  const spied = Object.fromEntries(
    consumers.map((one) => [
      one.name,
      async () => ({ ...one, handle: work(one.name, "handle"), dead: work(one.name, "dead") }),
    ]),
  );
  const app = new Hono();
  addDeliveries(app, service, spied);
  const response = await app.request(url, { method: "POST", body, headers });
  return { status: response.status, retried: !response.headers.has("upstash-nonretryable-error"), called };
}

const signed = (url: string, body: string, key = current, at = now): Record<string, string> => ({
  "upstash-signature": signature(key, url, Buffer.from(body), at),
});

const callback = (url: string, message: unknown): string =>
  JSON.stringify({ url, sourceBody: Buffer.from(JSON.stringify(message)).toString("base64") });

const REFUSED = { status: 401, retried: true, called: [] };
const UNKNOWN = { status: 500, retried: true, called: [] };
const MALFORMED = { status: 489, retried: false, called: [] };

test("names are unique, and none is that of the failure callback", () => {
  const names = consumers.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).not.toContain("dead");
  expect(names.toSorted()).toEqual(Object.keys(MESSAGES).toSorted());
});

test("each is listed by its name", () => {
  expect(Object.keys(CONSUMERS)).toEqual(consumers.map(({ name }) => name));
});

test("the publisher knows how to send to every consumer", () => {
  const sent = consumers.map(({ name, retries, retryDelay, timeoutSeconds, parallelism, untilDone }) => [
    name,
    {
      retries,
      ...(retryDelay === undefined ? {} : { retryDelay }),
      timeoutSeconds,
      parallelism,
      ...(untilDone === undefined ? {} : { untilDone }),
    },
  ]);
  expect([...DELIVERIES]).toEqual(sent);
});

describe.each(consumers.map((consumer) => [consumer.name, consumer] as const))("the consumer %s", (name, consumer) => {
  const url = `${BASE_URL}/queues/${name}`;
  const message = MESSAGES[name] ?? {};
  const body = JSON.stringify(message);

  test("says what to do with a message that failed for the last time", () => {
    expect(consumer.dead).toBeTypeOf("function");
  });

  test("is tried again, and given up, within bounds", () => {
    expect(consumer.retries).toBeGreaterThan(0);
    for (const plan of Object.values(QSTASH)) {
      expect(consumer.retries).toBeLessThanOrEqual(plan.retries);
      expect(1000 * consumer.timeoutSeconds).toBeLessThanOrEqual(plan.responseMs);
    }
    expect(consumer.timeoutSeconds).toBeGreaterThan(0);
    expect(consumer.parallelism ?? 1).toBeGreaterThan(0);
  });

  test("takes no field that is not declared", () => {
    expect(looseObjects(consumer.body)).toEqual(FREE_FORM[name] ?? []);
  });

  test.each([
    ["with the current key", current, now],
    ["with the next key", next, now],
    ["where the clock is ahead of ours", current, now + 20],
  ])("does its work once on a message signed %s", async (_how, key, at) => {
    const answer = await deliver(url, body, signed(url, body, key, at));
    expect(answer).toEqual({ status: 200, retried: true, called: [{ name, part: "handle", given: message }] });
  });

  test.each<[string, Record<string, string>]>([
    ["no signature", {}],
    ["an empty signature", { "upstash-signature": "" }],
    ["a signature that is no token", { "upstash-signature": "nonsense" }],
    ["a signature with another key", signed(url, body, "sig_another")],
    ["a signature for another body", signed(url, `${body} `)],
    ["a signature for another consumer", signed(`${url}x`, body)],
    ["a signature for the failure callback", signed(DEAD, body)],
    ["a signature for another service", signed(`https://other.example.test/queues/${name}`, body)],
    ["an expired signature", signed(url, body, current, now - 3600)],
    ["a signature that is not valid yet", signed(url, body, current, now + 3600)],
    ["an unsigned token", { "upstash-signature": unsigned(url, body) }],
  ])("answers 401 to %s and does nothing", async (_what, headers) => {
    expect(await deliver(url, body, headers)).toEqual(REFUSED);
  });

  test.each([
    ["no JSON", "{"],
    ["nothing", ""],
  ])("answers 489 to a signed message with %s, never to be tried again", async (_what, malformed) => {
    expect(await deliver(url, malformed, signed(url, malformed))).toEqual(MALFORMED);
  });

  // Another version of the service may have owed it, while a deployment spreads.
  test.each<[string, string]>([
    ["null", "null"],
    ["a list", `[${body}]`],
    ["a field that is not declared", JSON.stringify({ ...message, more: 1 })],
    ...Object.keys(message).flatMap((field): [string, string][] => [
      [`no ${field}`, JSON.stringify({ ...message, [field]: undefined })],
      [`a ${field} of another type`, JSON.stringify({ ...message, [field]: 17 })],
    ]),
  ])("answers 500 to a signed message with %s, so that it comes again, and does nothing", async (_what, other) => {
    expect(await deliver(url, other, signed(url, other))).toEqual(UNKNOWN);
    const dead = JSON.stringify({ url, sourceBody: Buffer.from(other).toString("base64") });
    expect(await deliver(DEAD, dead, signed(DEAD, dead))).toEqual(UNKNOWN);
  });

  test("answers 500 when its work fails, so that the message comes again", async () => {
    const answer = await deliver(url, body, signed(url, body), true);
    expect(answer).toMatchObject({ status: 500, retried: true });
  });

  test("is told of its dead message, and of nobody else's", async () => {
    const dead = callback(url, message);
    const answer = await deliver(DEAD, dead, signed(DEAD, dead));
    expect(answer).toEqual({ status: 200, retried: true, called: [{ name, part: "dead", given: message }] });
  });

  test("is told again when it could not bury its dead message", async () => {
    const dead = callback(url, message);
    expect(await deliver(DEAD, dead, signed(DEAD, dead), true)).toMatchObject({ status: 500, retried: true });
  });
});

describe("the failure callback", () => {
  const [first = ""] = Object.keys(MESSAGES);
  const known = `${BASE_URL}/queues/${first}`;
  const good = callback(known, MESSAGES[first]);

  test.each<[string, Record<string, string>]>([
    ["no signature", {}],
    ["a signature with another key", signed(DEAD, good, "sig_another")],
    ["the signature of the message that died", signed(known, JSON.stringify(MESSAGES[first]))],
  ])("answers 401 to %s and buries nothing", async (_what, headers) => {
    expect(await deliver(DEAD, good, headers)).toEqual(REFUSED);
  });

  test.each([
    ["an unknown consumer", callback(`${BASE_URL}/queues/nobody`, RUN)],
    ["itself as the consumer", callback(DEAD, RUN)],
    ["a consumer of another service", callback(`https://other.example.test/queues/${first}`, RUN)],
    ["no message", JSON.stringify({ url: known })],
    ["no address", JSON.stringify({ sourceBody: "e30=" })],
    ["no JSON", "{"],
  ])("answers 489 to %s", async (_what, body) => {
    expect(await deliver(DEAD, body, signed(DEAD, body))).toEqual(MALFORMED);
  });
});

test("no delivery reached beyond the process", () => {
  expect(touched).toEqual([]);
});

/** A token of the right content that claims to need no signature. */
function unsigned(url: string, body: string): string {
  const [, claims] = signature(current, url, Buffer.from(body), now).split(".");
  return `${Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url")}.${claims}.`;
}
