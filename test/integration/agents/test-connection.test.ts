import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { verifyRequest } from "../../../shared/platform/outbound/signature.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Answer, newUser, type User } from "../../stack/client.ts";
import { CUT, type Handler, json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { startAgent } from "../runs/support.ts";

const SECRET = "content of the answer";

let service: TestService;
let agent: Consumer;
let user: User;

beforeAll(async () => {
  service = await startService();
  agent = await startAgent();
  user = await newUser(service);
});

beforeEach(() => void agent.seen.splice(0));

afterAll(async () => {
  await agent.stop();
  await service.stop();
});

interface Result {
  ok: boolean;
  status_code: number | null;
  latency_ms: number;
  failure_code: string | null;
  detail: string;
}

function test(fields: object = {}): Promise<Answer<Result>> {
  return user.call("POST", "/api/v1/integrations/test-connection", { endpoint: agent.url, ...fields });
}

/** An answer to the JSON-RPC request that came. */
const rpc =
  (rest: object): Handler =>
  ({ body }) =>
    json(200, { jsonrpc: "2.0", id: (JSON.parse(body.toString()) as { id: string }).id, ...rest });
/** An answer about a task in this state. */
const taskIn = (state: string) => rpc({ result: { kind: "task", id: "t", status: { state } } });
const chat = json(200, { choices: [{ message: { role: "assistant", content: SECRET } }], model: "m" });

describe("an endpoint that answers by its protocol is ok", () => {
  it.each<[string, string, number, Handler]>([
    ["native", "an answer", 200, () => json(200, { output: SECRET })],
    ["native", "a promise to call back", 202, () => ({ status: 202 })],
    ["openai_chat", "a completion", 200, () => chat],
    ["a2a", "a message", 200, rpc({ result: { kind: "message", parts: [{ kind: "text", text: SECRET }] } })],
    ["a2a", "a task that has not ended", 200, taskIn("working")],
  ])("%s: %s", async (agent_protocol, what, status_code, answer) => {
    agent.answer = answer;
    const { status, body, text } = await test({ agent_protocol });
    expect([status, body]).toMatchObject([200, { ok: true, status_code, failure_code: null }]);
    expect(Number.isInteger(body.latency_ms)).toBe(true);
    expect(text).not.toContain(SECRET);
    // What has not ended is looked at once more.
    expect(agent.seen).toHaveLength(what === "a task that has not ended" ? 2 : 1);
  });

  it("if it takes texts alone, and refuses what else a message has", async () => {
    agent.answer = ({ body }) => {
      const { id, params } = JSON.parse(body.toString());
      const [first, ...more] = params.message.parts;
      const error = { code: -32005, message: SECRET };
      return json(200, {
        jsonrpc: "2.0",
        id,
        ...(more.length > 0 ? { error } : { result: { kind: "message", parts: [first] } }),
      });
    };
    const { body } = await test({ agent_protocol: "a2a" });
    expect(body).toMatchObject({ ok: true, status_code: 200, failure_code: null });
    expect(agent.seen).toHaveLength(2);
  });

  it("unless it fails right after at a task that it took on", async () => {
    agent.answer = (request) => taskIn(agent.seen.length === 1 ? "submitted" : "failed")(request);
    const { body } = await test({ agent_protocol: "a2a" });
    expect(body).toMatchObject({ ok: false, status_code: 200, failure_code: "agent_reported_failure" });
  });
});

describe("an endpoint that does not is named with its failure and what mends it", () => {
  const deep = `${"[".repeat(100)}${"]".repeat(100)}`;
  it.each<[string, string, number | null, string, Handler, RegExp]>([
    ["native", "a refusal", 401, "agent_http_error", () => json(401, { error: SECRET }), /401.*200/s],
    [
      "native",
      "a call for patience",
      503,
      "agent_http_error",
      () => ({ status: 503, headers: { "retry-after": "1" } }),
      /503/,
    ],
    [
      "native",
      "a page to sign in",
      401,
      "agent_http_error",
      () => ({ status: 401, body: `<!doctype html><html><head><title>${SECRET}</title>` }),
      /401.*page of HTML/s,
    ],
    [
      "native",
      "202 by a firewall that asks for a browser",
      202,
      "agent_http_error",
      () => ({ status: 202, headers: { "x-amzn-waf-action": "challenge" } }),
      /202.*firewall/s,
    ],
    ["openai_chat", "202", 202, "agent_http_error", () => ({ status: 202 }), /202/],
    [
      "openai_chat",
      "a model that it does not know",
      404,
      "agent_http_error",
      () => json(404, { error: { message: SECRET } }),
      /404.*whole URL.*"default"/s,
    ],
    ["openai_chat", "an error", 200, "agent_reported_failure", () => json(200, { error: SECRET }), /own log/],
    [
      "native",
      "a redirect",
      302,
      "agent_redirected",
      () => ({ status: 302, headers: { location: "/x" } }),
      /final URL.*slash/s,
    ],
    ["native", "HTML", 200, "agent_invalid_response", () => ({ status: 200, body: `<p>${SECRET}</p>` }), /not JSON/],
    ["native", "a list", 200, "agent_invalid_response", () => json(200, [{ output: SECRET }]), /a list or a text/],
    [
      "native",
      "lines of JSON",
      200,
      "agent_invalid_response",
      () => ({ status: 200, body: `{"type":"begin"}\n{"type":"item","content":"${SECRET}"}\n` }),
      /stream of events/,
    ],
    ["native", "JSON of another kind", 200, "agent_invalid_response", () => json(200, { text: SECRET }), /output/],
    ["native", "JSON nested too deeply", 200, "agent_invalid_response", () => ({ status: 200, body: deep }), /deeply/],
    [
      "native",
      "hundreds of thousands of empty objects",
      200,
      "agent_response_too_large",
      () => json(200, { output: Array.from({ length: 300_000 }, () => ({})) }),
      /50,000 items/,
    ],
    [
      "native",
      "a chat completion",
      200,
      "agent_invalid_response",
      () => chat,
      /no output.*openai_chat|openai_chat.*no output/s,
    ],
    [
      "native",
      "a request for messages",
      422,
      "agent_http_error",
      () => json(422, { detail: [{ loc: ["body", "messages"], msg: SECRET }] }),
      /422.*openai_chat/s,
    ],
    [
      "openai_chat",
      "an error of JSON-RPC",
      200,
      "agent_reported_failure",
      rpc({ error: { code: -32600, message: SECRET } }),
      /a2a for A2A 0\.2/,
    ],
    ["openai_chat", "the native form", 200, "agent_invalid_response", () => json(200, { output: SECRET }), /is native/],
    ["a2a", "a chat completion", 200, "agent_invalid_response", () => chat, /is openai_chat/],
    [
      "openai_chat",
      "a stream",
      200,
      "agent_invalid_response",
      () => ({ status: 200, body: `data: {"x":"${SECRET}"}` }),
      /stream of events/,
    ],
    ["native", "a cut connection", null, "agent_unreachable", () => CUT, /server runs/],
    [
      "native",
      "more than 1 MiB",
      null,
      "agent_response_too_large",
      () => ({ status: 200, body: "x".repeat(1024 * 1024 + 1) }),
      /1 MiB/,
    ],
    [
      "a2a",
      "an error",
      200,
      "agent_reported_failure",
      rpc({ error: { code: -32603, message: SECRET } }),
      /own log.*data part/s,
    ],
    [
      "a2a",
      "that it knows no such method, as a server of 1.0",
      200,
      "agent_reported_failure",
      rpc({ error: { code: -32601, message: SECRET } }),
      /a2a_1 for 1\.0/,
    ],
    [
      "a2a_1",
      "that it knows no such method, as one of 0.3",
      200,
      "agent_reported_failure",
      rpc({ error: { code: -32601, message: SECRET } }),
      /a2a for 0\.2 and 0\.3/,
    ],
  ])("%s: %s", async (agent_protocol, _what, status_code, failure_code, answer, detail) => {
    agent.answer = answer;
    const { status, body, text } = await test({ agent_protocol });
    expect([status, body]).toMatchObject([200, { ok: false, status_code, failure_code }]);
    expect(body.detail).toMatch(detail);
    expect(text).not.toContain(SECRET);
    expect(agent.seen).toHaveLength(1);
  });
});

it("the request is a run's: signed, with a task, and a token that opens nothing", async () => {
  agent.answer = () => json(200, { output: "ready" });
  await test();
  const [request] = agent.seen;
  const keys = (await (await fetch(`${service.url}/.well-known/jwks.json`)).json()) as Parameters<
    typeof verifyRequest
  >[1];
  const { method = "", headers = {}, body = Buffer.of() } = request ?? {};
  const signed = { method, url: agent.url, headers: new Headers(headers as Record<string, string>), body };
  expect(await verifyRequest(signed, keys, { now: new Date() })).toMatchObject({ ok: true });
  const sent = JSON.parse(body.toString());
  expect(sent).toMatchObject({ protocol: "2026-11", task: { output_format: "text" } });
  const { url, token } = sent.callback;
  const report = await fetch(url, {
    method: "PATCH",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ status: "completed", output: "ready" }),
  });
  expect(report.status).toBe(401);
});

it("nothing is kept, and an endpoint that may not be called is told apart from one that failed", async () => {
  const before = await service.sql(
    "select (select count(*) from runs) as runs, (select count(*) from agents) as agents",
  );
  for (const endpoint of ["https://10.0.0.1/", "http://agent.example.com/", `${service.url}/x`, ""]) {
    const answer = await test({ endpoint });
    expect([answer.status, answer.body]).toMatchObject([422, { code: "endpoint_not_allowed" }]);
  }
  expect(agent.seen).toEqual([]);
  expect(
    await service.sql("select (select count(*) from runs) as runs, (select count(*) from agents) as agents"),
  ).toEqual(before);
});
