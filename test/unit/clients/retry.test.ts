import { describe, expect, it } from "vitest";
import { retrying } from "../../../clients/typescript/src/retry.ts";

const OK = () => new Response("done");
const refusal =
  (status: number, headers: Record<string, string> = {}, code?: string) =>
  () =>
    Response.json({ code }, { status, headers });
const lost = () => {
  throw new TypeError("fetch failed");
};
/** The connection ends after the first half of the answer. */
const broken = (type: string) => () => {
  const halves = ['{"id":', new TypeError("terminated", { cause: new Error("other side closed") })];
  const body = new ReadableStream<Uint8Array>({
    pull(stream) {
      const half = halves.shift();
      if (typeof half === "string") stream.enqueue(new TextEncoder().encode(half));
      else stream.error(half);
    },
  });
  return new Response(body, { headers: { "content-type": type } });
};
const half = broken("application/json; charset=utf-8");

/** Sends one request to a service that answers in this way, call by call; gives the answer and the pauses in whole seconds. */
async function sent(
  answers: readonly (() => Response)[],
  { method = "GET", key = "", retries = 4 }: { method?: string; key?: string; retries?: number } = {},
) {
  const pauses: number[] = [];
  const bodies: string[] = [];
  const send = retrying(
    async (request) => {
      bodies.push(await request.text());
      return (answers[bodies.length - 1] ?? OK)();
    },
    { retries, longestPauseMs: 60_000, sleep: async (ms) => void pauses.push(Math.floor(ms / 1000)) },
  );
  const headers: Record<string, string> = key === "" ? {} : { "idempotency-key": key };
  const init = method === "GET" ? { method, headers } : { method, headers, body: "what is sent" };
  const outcome = await send(new Request("http://service.test/", init)).then(
    ({ status }) => status,
    (error: unknown) => String(error),
  );
  return { outcome, calls: bodies.length, pauses, bodies: new Set(bodies) };
}

describe("a request is sent again", () => {
  const wait = { "retry-after": "7" };
  it.each([
    [
      "a rate limit, after its pause",
      [refusal(429, wait)],
      { method: "PATCH" },
      { outcome: 200, calls: 2, pauses: [7] },
    ],
    ["an outage in a read, after its pause", [refusal(503, wait)], {}, { outcome: 200, calls: 2, pauses: [7] }],
    ["a lost answer to a read", [lost, lost], {}, { outcome: 200, calls: 3, pauses: [0, 0] }],
    ["a lost answer to what has a key", [lost], { method: "POST", key: "k" }, { outcome: 200, calls: 2, pauses: [0] }],
    [
      "its first try while that still runs",
      [lost, refusal(409, {}, "idempotency_in_progress")],
      { method: "POST", key: "k" },
      { outcome: 200, calls: 3, pauses: [0, 0] },
    ],
    ["an answer to a read that broke off", [half], {}, { outcome: 200, calls: 2, pauses: [0] }],
    [
      "an answer to what has a key that broke off",
      [half, broken("application/problem+json")],
      { method: "POST", key: "k" },
      { outcome: 200, calls: 3, pauses: [0, 0] },
    ],
    ["a bad gateway", [refusal(502)], {}, { outcome: 200, calls: 2, pauses: [0] }],
  ])("after %s", async (_what, answers, options, expected) => {
    expect(await sent(answers, options)).toMatchObject(expected);
  });

  it("with the same body, and at most so often", async () => {
    const always = Array.from({ length: 9 }, () => refusal(503, { "retry-after": "1" }));
    const found = await sent(always, { method: "POST", key: "k", retries: 3 });
    expect(found).toEqual({ outcome: 503, calls: 4, pauses: [1, 1, 1], bodies: new Set(["what is sent"]) });
  });
});

describe("a request is not sent again", () => {
  it.each([
    ["a lost answer to a change without a key", [lost], { method: "POST" }, "TypeError: fetch failed"],
    [
      "an answer to a change without a key that broke off",
      [half],
      { method: "POST" },
      "Error: The answer broke off: other side closed",
    ],
    ["a stream that breaks off, which is read as it comes", [broken("text/event-stream")], {}, 200],
    ["an outage in a change without a key", [refusal(503, { "retry-after": "1" })], { method: "PATCH" }, 503],
    ["an outage without a time", [refusal(503)], {}, 503],
    ["a lockout, which names no time", [refusal(429)], {}, 429],
    ["a pause of hours", [refusal(429, { "retry-after": "7200" })], {}, 429],
    ["a fault of the service", [refusal(500)], { method: "POST", key: "k" }, 500],
    ["another conflict", [refusal(409, {}, "duplicate_name")], { method: "POST", key: "k" }, 409],
    ["a refusal", [refusal(422)], {}, 422],
  ])("after %s", async (_what, answers, options, outcome) => {
    expect(await sent(answers, options)).toMatchObject({ outcome, calls: 1, pauses: [] });
  });

  it("more often than was asked for, where each answer breaks off", async () => {
    const found = await sent([half, half, half], { retries: 2 });
    expect(found).toMatchObject({ outcome: expect.stringContaining("other side closed"), calls: 3 });
  });

  it("once the caller has given up", async () => {
    const gone = AbortSignal.abort(new Error("enough"));
    let calls = 0;
    const send = retrying(
      () => {
        calls += 1;
        throw new Error("enough");
      },
      { retries: 4, longestPauseMs: 60_000, sleep: async () => undefined },
    );
    await expect(send(new Request("http://service.test/", { signal: gone }))).rejects.toThrow("enough");
    expect(calls).toBe(1);
  });
});
