import { randomUUID, webcrypto } from "node:crypto";
import * as fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { encrypt } from "../../../shared/platform/encryption.ts";
import type { DnsResolver } from "../../../shared/platform/outbound/resolve.ts";
import { type Attempt, send } from "../../../shared/webhooks/send.ts";
import { HOSTILE_URLS } from "../outbound/hostile-urls.ts";
import { ENV } from "../runs/protocols-support.ts";

const env = { ...ENV, ENVIRONMENT: "production" as const };
const NOW = new Date("2026-11-21T09:00:00.999Z");
const SECRET = "a secret that is visible ASCII".replaceAll(" ", "-");

const attemptOf = (fields: Partial<Attempt> & { plain?: string } = {}): Attempt => {
  const { plain = SECRET, ...rest } = fields;
  const secret = encrypt(plain, env.DATA_ENCRYPTION_KEYS, "webhook");
  const body = '{"id":"1"}';
  const [id, lease] = [randomUUID(), randomUUID()];
  return { id, lease, url: "https://receiver.example.com/in", secret, type: "run.completed", body, ...rest };
};

/** The world outside: a resolver and a receiver that note what they get. */
function outside(answer: () => Response | Promise<Response> = () => new Response(), addresses = ["93.184.216.34"]) {
  const sent: Request[] = [];
  const query = vi.fn<DnsResolver["query"]>(async () => addresses);
  const fetch: typeof globalThis.fetch = async (input, init) => {
    sent.push(new Request(input, init));
    return answer();
  };
  return { env, fetch, resolver: { query }, now: () => NOW, sent };
}

/** HMAC-SHA256 by another implementation than the service's, in lower-case hex. */
async function hmac(secret: string, data: Uint8Array): Promise<string> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await webcrypto.subtle.importKey("raw", new TextEncoder().encode(secret), algorithm, false, ["sign"]);
  return Buffer.from(await webcrypto.subtle.sign("HMAC", key, data)).toString("hex");
}

describe("an attempt", () => {
  it("is signed by the rules over the very bytes that arrive, whatever they are", async () => {
    const textOf = (min: number, max: number, lengths: fc.ArrayConstraints) =>
      fc.array(fc.integer({ min, max }), lengths).map((points) => String.fromCodePoint(...points).toWellFormed());
    const secrets = textOf(0x21, 0x7e, { minLength: 16, maxLength: 256 });
    const texts = textOf(0, 0x10ffff, {});
    await fc.assert(
      fc.asyncProperty(secrets, texts, async (plain, text) => {
        const world = outside();
        const attempt = attemptOf({ plain, body: JSON.stringify({ data: text }) });
        await send(world, attempt);
        const [request] = world.sent;
        const { headers } = request as Request;
        const raw = new Uint8Array(await (request as Request).arrayBuffer());
        const prefix = `${headers.get("x-service-timestamp")}.${headers.get("x-service-delivery")}.`;
        expect(headers.get("x-service-signature-v2")).toBe(
          `v2=${await hmac(plain, Buffer.concat([Buffer.from(prefix), raw]))}`,
        );
        expect(headers.get("x-service-signature")).toBe(`sha256=${await hmac(plain, raw)}`);
        expect(new TextDecoder().decode(raw)).toBe(attempt.body);
      }),
    );
  });

  it("is a POST of JSON with type, delivery id and the second it was sent in", async () => {
    const world = outside();
    const attempt = attemptOf();
    await send(world, attempt);
    const [request] = world.sent;
    expect([request?.method, request?.url, request?.redirect]).toEqual(["POST", attempt.url, "manual"]);
    const {
      "x-service-signature": legacy,
      "x-service-signature-v2": v2,
      ...plain
    } = Object.fromEntries(request?.headers ?? []);
    expect([legacy, v2].map((header) => header?.replace(/[0-9a-f]{64}$/, "hex"))).toEqual(["sha256=hex", "v2=hex"]);
    expect(plain).toEqual({
      "content-type": "application/json",
      "user-agent": `AgentScreening/1.0 (+${env.BASE_URL}/docs)`,
      "x-service-event": "run.completed",
      "x-service-delivery": attempt.id,
      "x-service-timestamp": String(Math.floor(NOW.getTime() / 1000)),
    });
  });

  it("to a subscription without a secret carries no signature header", async () => {
    const world = outside();
    await send(world, attemptOf({ secret: null }));
    const names = [...(world.sent[0]?.headers.keys() ?? [])].filter((name) => name.startsWith("x-"));
    expect(names).toEqual(["x-service-delivery", "x-service-event", "x-service-timestamp"]);
  });
});

describe("the answer", () => {
  it.each<[string, string | Uint8Array<ArrayBuffer> | null, number, string]>([
    ["is kept as text", "fine", 200, "fine"],
    ["may have no body", null, 204, ""],
    ["is kept whatever the status", "gone", 410, "gone"],
    ["that redirects is not followed", "see there", 302, "see there"],
    ["of exactly 1 KiB is kept whole", "x".repeat(1024), 200, "x".repeat(1024)],
    ["that is longer is no failure, and kept to 1 KiB", "x".repeat(5000), 200, "x".repeat(1024)],
    ["that is cut within a character is text still", `${"x".repeat(1023)}é`, 200, `${"x".repeat(1023)}\uFFFD`],
    ["that is no text can be stored", new Uint8Array([0, 0xff, 65]), 200, "\uFFFD\uFFFDA"],
  ])("%s", async (_what, body, status, excerpt) => {
    const headers = { location: "https://10.0.0.1/" };
    const world = outside(() => new Response(body, { status, headers }));
    expect(await send(world, attemptOf())).toEqual({ sentAt: NOW, status, durationMs: 0, excerpt });
    expect(world.sent).toHaveLength(1);
  });

  it("without an end is left after its first KiB", async () => {
    let pulled = 0;
    let cancelled = false;
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          pulled += 1;
          controller.enqueue(new Uint8Array(100).fill(65));
        },
        cancel: () => void (cancelled = true),
      });
    const outcome = await send(
      outside(() => new Response(endless())),
      attemptOf(),
    );
    expect(outcome).toMatchObject({ status: 200, excerpt: "A".repeat(1024) });
    expect([pulled < 20, cancelled]).toEqual([true, true]);
  });

  it.each([
    ["a success", 200],
    ["the end of the subscription", 410],
  ])("is its status, %s, though its body breaks off", async (_what, status) => {
    let pulled = 0;
    const broken = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          if (pulled === 0) controller.enqueue(new Uint8Array(3).fill(65));
          else controller.error(new TypeError("terminated"));
          pulled += 1;
        },
      });
    const world = outside(() => new Response(broken(), { status }));
    expect(await send(world, attemptOf())).toMatchObject({ status, excerpt: "AAA" });
  });

  it.each([521, 522, 525, 530])("of the edge in the receiver's place, %i, is none", async (status) => {
    const outcome = await send(
      outside(() => new Response("<html>", { status })),
      attemptOf(),
    );
    expect(outcome).toMatchObject({ status: null, excerpt: expect.stringMatching(/^The .+\.$/) });
  });

  it("that does not come is told in words", async () => {
    const outcome = await send(
      outside(() => Promise.reject(new TypeError("fetch failed"))),
      attemptOf(),
    );
    expect(outcome).toMatchObject({ status: null, excerpt: expect.stringContaining("refused or closed") });
  });
});

describe("a receiver that hangs", () => {
  afterEach(() => void vi.useRealTimers());

  const dripping = () =>
    new Response(new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode("so far")) }));
  const late = expect.stringContaining("within 15000 ms");

  it.each<[string, () => Promise<Response>, object]>([
    ["before it answers", () => new Promise(() => undefined), { status: null, excerpt: late }],
    ["within its answer, whose status stands,", async () => dripping(), { status: 200, excerpt: "so far" }],
  ])("%s is left after 15 seconds", async (_where, answer, expected) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const sent = Promise.withResolvers<void>();
    let ended = false;
    const world = outside(() => {
      sent.resolve();
      return answer();
    });
    const outcome = send(world, attemptOf()).finally(() => (ended = true));
    await sent.promise;
    await vi.advanceTimersByTimeAsync(14_999);
    expect(ended).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toMatchObject(expected);
  });
});

describe("an attempt to where nobody may be called", () => {
  it("sends nothing to a URL that its text forbids, in every form of it", async () => {
    for (const url of Object.values(HOSTILE_URLS).flat()) {
      const world = outside();
      expect(await send(world, attemptOf({ url })), url).toMatchObject({ status: null });
      expect([world.sent, world.resolver.query.mock.calls], url).toEqual([[], []]);
    }
  });

  it.each([
    ["a private address among public ones", ["93.184.216.34", "10.0.0.1"], "not public"],
    ["cloud metadata", ["169.254.169.254"], "not public"],
    ["a mapped address", ["::ffff:127.0.0.1"], "not public"],
    ["nothing", [], "could not be resolved"],
  ])("sends nothing to a name that resolves to %s, and says so", async (_what, addresses, reason) => {
    const world = outside(undefined, addresses);
    expect(await send(world, attemptOf())).toMatchObject({
      status: null,
      excerpt: expect.stringMatching(new RegExp(`^receiver\\.example\\.com .*${reason}`)),
    });
    expect(world.sent).toEqual([]);
  });

  it("asks for the addresses anew each time: one that turns private is called no more", async () => {
    const world = outside();
    const attempt = attemptOf();
    expect(await send(world, attempt)).toMatchObject({ status: 200 });
    world.resolver.query.mockResolvedValue(["127.0.0.1"]);
    expect(await send(world, attempt)).toMatchObject({ status: null });
    expect(world.sent).toHaveLength(1);
  });
});
