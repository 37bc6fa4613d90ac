import { describe, expect, it } from "vitest";
import { verifyRequest } from "../../../shared/platform/outbound/signature.ts";
import { callAgent, openLine } from "../../../shared/runs/call.ts";
import { protocolOf } from "../../../shared/runs/protocols/index.ts";
import type { Protocol } from "../../../shared/runs/protocols/protocol.ts";
import { ENV, jobOf, KEYS, RUN_ID } from "./protocols-support.ts";

const NOW = Date.parse("2026-11-21T09:00:00.000Z");
const json = (value: unknown, init?: ResponseInit) => new Response(JSON.stringify(value), init);
const task = (state: string) =>
  json({ jsonrpc: "2.0", id: RUN_ID, result: { kind: "task", id: "t-1", status: { state } } });
const done = () =>
  json({ jsonrpc: "2.0", id: RUN_ID, result: { kind: "message", parts: [{ kind: "text", text: "42" }] } });

/** The item at `index`, and beyond the last item the last. */
function nth<T>(items: readonly T[], index: number): T {
  const item = items[Math.min(index, items.length - 1)];
  if (item === undefined) throw new RangeError("no items");
  return item;
}

interface Options {
  protocol?: Protocol;
  /** Milliseconds until the deadline. */
  withinMs?: number;
  /** Milliseconds that each exchange takes. */
  eachMs?: number;
  /** Milliseconds that each look-up of its name takes. */
  lookupMs?: number;
  /** What the agent's name resolves to at its nth look-up, two for each exchange; the last one forever. */
  addresses?: string[];
}

/** Calls an agent that answers its nth request with the nth answer, the last one forever, on a clock of its own. */
async function call(answers: (() => Response)[], options: Options = {}) {
  const {
    protocol = protocolOf("a2a"),
    withinMs = 60_000,
    eachMs = 0,
    lookupMs = 0,
    addresses = ["1.1.1.1"],
  } = options;
  const job = jobOf({ time_limit_ms: withinMs });
  let lookups = 0;
  const requests: Request[] = [];
  const pauses: number[] = [];
  let clock = NOW;
  const ctx = {
    env: ENV,
    keys: async () => KEYS,
    now: () => new Date(clock),
    resolver: {
      async query() {
        // The two of a look-up run side by side.
        if (lookups % 2 === 0) clock += lookupMs;
        return [nth(addresses, lookups++)];
      },
    },
    fetch: async (...request: Parameters<typeof fetch>) => {
      requests.push(new Request(...request));
      clock += eachMs;
      return nth(answers, requests.length - 1)();
    },
  };
  const body = JSON.stringify(protocol.request(job, { deadline: "", url: "", token: "" }));
  const { outcome, sentAt } = await callAgent(ctx, job, protocol, body, await openLine(ctx, job), async (ms) => {
    pauses.push(ms);
    clock += ms;
  });
  const bodies = await Promise.all(requests.map((request) => request.clone().text()));
  return { outcome, sentAfter: sentAt.getTime() - NOW, requests, bodies, pauses, lookups, endedAfter: clock - NOW };
}

const completed = () =>
  json({
    jsonrpc: "2.0",
    id: RUN_ID,
    result: {
      kind: "task",
      id: "t-1",
      status: { state: "completed" },
      artifacts: [{ parts: [{ kind: "text", text: "42" }] }],
    },
  });
const last = new TextEncoder().encode(await completed().text());

describe("an answer that is not ready", () => {
  it("is asked for after 250 ms, then a quarter more seldom each time, down to every 2 s", async () => {
    const { outcome, pauses } = await call([...Array.from({ length: 13 }, () => () => task("working")), completed]);
    expect(pauses.slice(0, 3)).toEqual([250, 313, 391]);
    expect(pauses.slice(-4)).toEqual([1863, 2000, 2000, 2000]);
    expect(outcome).toMatchObject({ kind: "answer", answer: { output: "42" } });
  });

  it("is kept as it came last, and took all the time until then", async () => {
    const { outcome } = await call([() => task("submitted"), () => task("working"), completed], { eachMs: 100 });
    expect(outcome).toEqual({
      kind: "answer",
      answer: { output: "42" },
      response: last,
      latencyMs: 3 * 100 + 250 + 313,
    });
  });

  it("is asked for by requests that are signed, and name the run but do not repeat its Idempotency-Key", async () => {
    const { requests, bodies } = await call([() => task("working"), completed]);
    expect(bodies.map((body) => JSON.parse(body).method)).toEqual(["message/send", "tasks/get"]);
    const { endpoint } = jobOf().agent;
    expect(requests.map(({ url }) => url)).toEqual([endpoint, endpoint]);
    expect(requests.map(({ headers }) => headers.get("X-Service-Run-Id"))).toEqual([RUN_ID, RUN_ID]);
    expect(requests.map(({ headers }) => headers.get("Idempotency-Key"))).toEqual([RUN_ID, null]);
    const verdicts = await Promise.all(
      requests.map(({ method, url, headers }, at) =>
        verifyRequest(
          { method, url, headers, body: bodies[at] ?? "" },
          { keys: KEYS.publicJwks() },
          { now: new Date(NOW) },
        ),
      ),
    );
    expect(verdicts).toMatchObject([{ ok: true }, { ok: true }]);
    expect(new Set(verdicts.map((verdict) => verdict.ok && verdict.nonce)).size).toBe(2);
  });

  it.each([300, 1000, 5000, 60_000, 120_000])(
    "is given up within the last 250 ms of %i, never later",
    async (withinMs) => {
      const { outcome, endedAfter, requests } = await call([() => task("working")], { withinMs });
      expect(outcome).toEqual({
        kind: "failure",
        code: "agent_timeout",
        detail: "The agent was still at work when its time was over.",
        response: null,
        latencyMs: endedAfter,
      });
      expect(endedAfter).toBeGreaterThanOrEqual(withinMs - 250);
      expect(endedAfter).toBeLessThanOrEqual(withinMs);
      expect(requests.length).toBeLessThanOrEqual(75);
    },
  );

  it.each([
    ["a redirect", () => new Response(null, { status: 302 }), "agent_redirected"],
    ["another status", () => json({}, { status: 500 }), "agent_http_error"],
    ["a promise to call back", () => json({}, { status: 202 }), "agent_http_error"],
    ["what is not JSON", () => new Response("<html>"), "agent_invalid_response"],
    ["1 MiB and a byte", () => new Response("a".repeat(1024 * 1024 + 1)), "agent_response_too_large"],
    [
      "a broken connection",
      () => {
        throw new TypeError("fetch failed");
      },
      "agent_unreachable",
    ],
    ["another kind of result", done, "agent_invalid_response"],
    ["a failure of its own", () => task("failed"), "agent_reported_failure"],
  ])("ends the run when it is %s", async (_case, answer, code) => {
    const { outcome, requests } = await call([() => task("working"), answer], { eachMs: 10 });
    expect(outcome).toMatchObject({ kind: "failure", code, latencyMs: 270 });
    expect(requests.length).toBe(2);
  });

  it.each<[string, string, string | RegExp]>([
    ["OpenAI and what is compatible", '{"error":{"message":" Unknown model. ","code":null}}', "Unknown model."],
    ["Ollama", '{"error":"model \\"default\\" not found"}', 'model "default" not found'],
    ["vLLM", '{"object":"error","message":"Grammar error","code":400}', "Grammar error"],
    ["the URL of a Lambda function", '{"Message":"Forbidden. See the page."}', "Forbidden. See the page."],
    ["Supabase", '{"msg":"Missing authorization header"}', "Missing authorization header"],
    ["a problem without a detail", '{"type":"about:blank","title":"Unauthorized"}', "Unauthorized"],
    ["a problem of RFC 9457", '{"title":"Unauthorized","detail":"The token has ended."}', "The token has ended."],
    ["FastAPI", '{"detail":[{"loc":["body","task_id",0],"msg":"Field required"},7]}', "body.task_id.0: Field required"],
    [
      "OpenRouter",
      '{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\\"error\\":{\\"message\\":\\"One image at most.\\"}}","provider_name":"Crucible"}}}',
      "Provider returned error: One image at most.",
    ],
    [
      "OpenRouter in a text",
      '{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"The model is rate-limited upstream."}}}',
      "Provider returned error: The model is rate-limited upstream.",
    ],
    [
      "Gemini",
      '[{"error":{"code":404,"message":"models/default is not found","status":"NOT_FOUND"}}]',
      "models/default is not found",
    ],
    ["Workers AI", '{"errors":[{"message":"No such model","code":5007}],"success":false,"result":{}}', "No such model"],
    [
      "Workers AI of a bad input",
      '{"errors":{"message":"AiError: Bad input","code":5006},"success":false}',
      "AiError: Bad input",
    ],
    [
      "Cloudflare's AI Gateway",
      '{"success":false,"result":[],"error":[{"code":2001,"message":"Please configure AI Gateway"}]}',
      "Please configure AI Gateway",
    ],
    [
      "Mistral",
      '{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","top_k"],"msg":"Not permitted"}]}}',
      "body.top_k: Not permitted",
    ],
    ["a text", "upstream\u0000timed out\n", "upstream timed out"],
    ["a JSON text", '"no"', "no"],
    ["a long text", "a".repeat(2000), /^a{500}$/],
  ])("ends with what %s says of the error", async (_server, body, said) => {
    const { outcome } = await call([() => new Response(body, { status: 400 })]);
    const [told, words] = outcome.kind === "failure" ? outcome.detail.split(" It says: ") : [];
    expect(told).toBe("The endpoint answered with HTTP status 400; 200 is expected.");
    expect(words).toEqual(typeof said === "string" ? said : expect.stringMatching(said));
  });

  const PAGE = "The answer is a page of HTML, as hosts and gateways send it in an endpoint's place.";
  const CHECK = "A firewall before the endpoint asks for a browser: let the service's calls pass there.";
  const page = (title: string) => `\n<!DOCTYPE html>\n<html lang="en"><head><title>${title}</title></head></html>`;
  it.each<[string, number, string, Record<string, string>, string]>([
    ["nginx", 502, "<html>\r\n<head><title>502 Bad Gateway</title></head>", {}, `${PAGE} It says: 502 Bad Gateway`],
    ["a page without a title", 404, "<html>Not found</html>", {}, PAGE],
    ["Vercel's sign-in", 401, page("Authentication\n Required"), {}, `${PAGE} It says: Authentication  Required`],
    [
      "Cloudflare",
      403,
      page("Just a moment..."),
      { "cf-mitigated": "challenge" },
      `${CHECK} It says: Just a moment...`,
    ],
    ["Vercel's firewall", 429, "", { "x-vercel-mitigated": "challenge" }, CHECK],
    ["AWS WAF", 405, "", { "x-amzn-waf-action": "captcha" }, CHECK],
    ["Cloudflare without a check", 403, "error code: 1010", { "cf-ray": "1" }, "It says: error code: 1010"],
  ])("ends with what %s did in the endpoint's place", async (_host, status, body, headers, told) => {
    const { outcome } = await call([() => new Response(body, { status, headers })]);
    const detail = `The endpoint answered with HTTP status ${status}; 200 is expected. ${told}`;
    expect(outcome).toMatchObject({ kind: "failure", code: "agent_http_error", detail });
  });

  it("ends with a page of HTML for what it is, where that comes with status 200", async () => {
    const { outcome } = await call([() => new Response(page("Welcome"))]);
    expect(outcome).toMatchObject({ code: "agent_invalid_response", detail: `The answer is not JSON. ${PAGE}` });
  });

  it.each(["", "{}", '{"error":{"code":5}}', "<p>Not found</p>", '{"error":', '{"error":"  "}', "\u00ff\ufffd"])(
    "ends with the status alone where nobody could read what is said: %j",
    async (body) => {
      const { outcome } = await call([() => new Response(body, { status: 404 })]);
      expect(outcome).toMatchObject({ detail: "The endpoint answered with HTTP status 404; 200 is expected." });
    },
  );

  it("is looked up again after 30 s, so that a name can't come to point inside", async () => {
    const { outcome, requests, endedAfter } = await call([() => task("working")], {
      addresses: ["1.1.1.1", "1.1.1.1", "127.0.0.1"],
    });
    expect(outcome).toMatchObject({ kind: "failure", code: "endpoint_not_allowed", latencyMs: endedAfter });
    expect(endedAfter).toBeGreaterThan(30_000);
    expect(endedAfter).toBeLessThanOrEqual(32_000);
    expect(requests.length).toBeGreaterThan(10);
  });

  it("is not looked up again before", async () => {
    const { lookups } = await call([...Array.from({ length: 10 }, () => () => task("working")), completed]);
    expect(lookups).toBe(2);
  });
});

describe("an endpoint that is busy", () => {
  const busy = (after: string) => () => new Response(null, { status: 503, headers: { "Retry-After": after } });
  it.each([
    ["is asked again when it says", [busy("7"), done], [7000], "answer"],
    ["is asked again once", [busy("7"), busy("1"), done], [7000], "failure"],
    ["is not waited for past the deadline", [busy("60"), done], [], "failure"],
    ["is not waited for without end", [busy("soon"), done], [], "failure"],
    ["is asked again about what was not ready", [() => task("working"), busy("3"), completed], [250, 3000], "answer"],
  ])("%s", async (_case, answers, pauses, kind) => {
    const called = await call(answers);
    expect(called.pauses).toEqual(pauses);
    expect(called.outcome.kind).toBe(kind);
  });

  it.each([
    ["answers then", [busy("7"), done], "answer", 100 + 7000 + 100],
    ["is still at work then", [busy("7"), () => task("working"), completed], "answer", 100 + 7000 + 100 + 250 + 100],
    ["fails then", [busy("7"), busy("7")], "failure", 100 + 7000 + 100],
    ["promises to report then", [busy("7"), () => new Response(null, { status: 202 })], "callback", 100 + 7000 + 100],
  ])("had the task all the while, where it %s", async (_case, answers, kind, latencyMs) => {
    const protocol = protocolOf(kind === "callback" ? "native" : "a2a");
    const { outcome, sentAfter } = await call(answers, { eachMs: 100, protocol });
    expect(outcome).toMatchObject({ kind, latencyMs });
    expect(sentAfter).toBe(0);
  });
});

const latencyOf = (outcome: { latencyMs: number }) => outcome.latencyMs;

describe("what our look-ups of its name take", () => {
  it("is taken off nobody's time, and is in no latency", async () => {
    const slow = { eachMs: 100, lookupMs: 2500, withinMs: 3000 };
    const answered = await call([() => task("working"), () => task("working"), completed], slow);
    expect(answered.outcome).toMatchObject({ kind: "answer", latencyMs: 3 * 100 + 250 + 313 });
    expect(answered.sentAfter).toBe(2500);
    const endless = await call([() => task("working")], slow);
    const same = await call([() => task("working")], { ...slow, lookupMs: 0 });
    expect(endless.outcome).toEqual(same.outcome);
    expect(endless.pauses).toEqual(same.pauses);
  });

  it("is taken off nobody's time, also of a name that is looked up again", async () => {
    const slow = { lookupMs: 2400, withinMs: 80_000 };
    const endless = await call([() => task("working")], slow);
    expect(endless.lookups).toBe(3 * 2);
    expect(endless.endedAfter).toBe(3 * 2400 + latencyOf(endless.outcome));
    expect(latencyOf(endless.outcome)).toBeLessThanOrEqual(80_000);
  });

  it.each([1000, 60_000, 120_000])(
    "is at most 5 s after the first request, so that a call with a limit of %i ends within its lease",
    async (withinMs) => {
      const { outcome, endedAfter } = await call([() => task("working")], { lookupMs: 4900, withinMs });
      expect(outcome).toMatchObject({ kind: "failure", code: "agent_timeout" });
      expect(endedAfter).toBeLessThanOrEqual(withinMs + 3 * 5000);
    },
  );

  it("ends the agent's time where nothing of it is left then, and nothing more is sent", async () => {
    // Looked up before the call, at about 30 s, and at about 60 s; the third goes beyond what is taken off.
    const { outcome, requests, lookups } = await call([() => task("working")], { lookupMs: 4900, withinMs: 61_500 });
    expect(outcome).toMatchObject({ kind: "failure", code: "agent_timeout", response: null });
    expect(lookups).toBe(3 * 2);
    const sent = await call([() => task("working")], { lookupMs: 0, withinMs: 61_500 });
    expect(requests.length).toBeLessThan(sent.requests.length);
  });
});

describe("an answer that comes at once", () => {
  it("is all there is, and its latency is that of its exchange", async () => {
    const { outcome, pauses } = await call([done], { eachMs: 120 });
    expect(outcome).toMatchObject({ kind: "answer", answer: { output: "42" }, latencyMs: 120 });
    expect(pauses).toEqual([]);
  });

  it.each(["native", "openai_chat", "a2a"] as const)(
    "202 is a promise where the protocol has callbacks: %s",
    async (name) => {
      const { outcome } = await call([() => new Response(null, { status: 202 })], { protocol: protocolOf(name) });
      expect(outcome.kind).toBe(name === "native" ? "callback" : "failure");
    },
  );

  it("is asked once more where its form was refused, within the same time, all of which it took", async () => {
    const refuses = () => json({ jsonrpc: "2.0", id: RUN_ID, error: { code: -32005, message: "Text alone." } });
    const { outcome } = await call([refuses, done], { eachMs: 120 });
    expect(outcome).toMatchObject({ kind: "answer", answer: { output: "42" }, latencyMs: 240 });
    const late = await call([refuses, done], { eachMs: 120, withinMs: 120 });
    expect([late.requests.length, late.outcome]).toMatchObject([1, { code: "agent_reported_failure", latencyMs: 120 }]);
  });
});
