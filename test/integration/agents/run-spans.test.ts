import { afterAll, beforeAll, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { newVisitor, visitorOf } from "../../stack/visitor.ts";
import { addAgent, addRun, addSuite, answersRightly, range, startAgent } from "../runs/support.ts";
import { agentSpan, type Sent, storeSpans } from "./telemetry-spans.ts";

let service: TestService;
let endpoint: Consumer;
let owner: User;
let stranger: User;
let suite: string[];

beforeAll(async () => {
  service = await startService();
  endpoint = await startAgent();
  endpoint.answer = answersRightly;
  owner = await newUser(service, { plan: "pro", email: "owner@example.test" });
  stranger = await newUser(service);
  suite = (await addSuite(service, 1)).tasks;
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

async function runOf(agent: object): Promise<string> {
  const id = await addRun(owner, await addAgent(owner, { endpoint: endpoint.url, ...agent }), suite[0] ?? "");
  await service.settled();
  return id;
}

it("shows owner and members what the agent told of a run, from its beginning, and nobody else", async () => {
  const run = await runOf({ is_public: true });
  const model = agentSpan({ kind: "model", name: "chat", provider: "openai", model: "gpt-5-mini", input_tokens: 12 });
  const tool = agentSpan({ kind: "tool", name: "<b>look up</b>", parent_span_id: model.span_id });
  await storeSpans(service, run, [tool, model]);
  await service.sql(
    "update spans set started_at = started_at - interval '1 s', duration_ms = 1200.7, failed = true where span_id = $1",
    [model.span_id],
  );
  const path = `/api/v1/runs/${run}/spans`;
  const { status, body } = await owner.call("GET", path);
  expect(status).toBe(200);
  const shown = ({ scope: _scope, started_at: _now, ...span }: Sent) => span;
  const items = [{ ...shown(model), failed: true, duration_ms: 1201 }, shown(tool)];
  expect(body).toMatchObject({ run_id: run, items });
  for (const hidden of ["agent_id", "scope"]) expect(Object.keys(body.items[0])).not.toContain(hidden);
  expect(await stranger.call("GET", path)).toMatchObject({ status: 403, body: { code: "forbidden" } });
  // Nobody is told them without credentials, so they are asked for at once.
  expect(await caller(service).call("GET", path)).toMatchObject({ status: 401, body: { code: "unauthenticated" } });

  const { html: page } = await (await visitorOf(service, owner)).open(`/runs/${run}`);
  expect(page).toContain("2 spans over 1201 ms");
  expect(page).toContain("&lt;b&gt;look up&lt;/b&gt;");
  expect((await newVisitor(service).open(`/runs/${run}`)).html).not.toContain("look up");
});

it("is 404 for a run that the caller may not see, and empty without telemetry", async () => {
  const run = await runOf({ is_public: false });
  const path = `/api/v1/runs/${run}/spans`;
  expect(await owner.call("GET", path)).toMatchObject({ status: 200, body: { run_id: run, items: [] } });
  expect((await stranger.call("GET", path)).status).toBe(404);
  expect((await caller(service).call("GET", path)).status).toBe(401);
});

it("can't keep a run from being scored, however long what its agent has named in others", async () => {
  const agent = await addAgent(owner, { endpoint: endpoint.url });
  const named = (name: string, at: number) => `${name}${at} ${"😀".repeat(110)}`;
  let made = 0;
  endpoint.answer = async (request) => {
    made += 1;
    const tools = range(254).map((at) => agentSpan({ kind: "tool", name: named("tool", at) }));
    const models = tools.flatMap(({ span_id: parent_span_id }, at) =>
      range(3).map((call) => {
        const model = named("model", (3 * at + call) % 256);
        return agentSpan({ kind: "model", name: "chat", parent_span_id, provider: named("vendor", made), model });
      }),
    );
    await storeSpans(service, String(request.headers["x-service-run-id"]), [...tools, ...models]);
    return answersRightly(request);
  };
  for (const _run of range(8)) {
    const run = await addRun(owner, agent, suite[0] ?? "");
    await service.settled();
    expect((await owner.call("GET", `/api/v1/runs/${run}`)).body).toMatchObject({ status: "completed", passed: true });
  }
});

/** As many versions of an agent as are looked at, each as large as one may be in the database's answer. */
async function addVersions(agent: string): Promise<void> {
  for (const at of range(20)) {
    const named = (kind: string) => range(256).map((n) => `${kind}${at}-${n}`.padEnd(41, "\\"));
    const edges = range(1024).map((n) => ["a", n.toString(36)]);
    await service.sql(
      `insert into architecture_versions (agent_id, version, public_version, architecture_hash, models, tools, edges)
       values ($1, $2, $2, $3, $4, $5, $6)`,
      [agent, at + 1, `${at}`, ...[named("m"), named("t"), edges].map((value) => JSON.stringify(value))],
    );
  }
}

it("has a run end as the agent's fault whose answer is kept twice as long, be its calls told in a text of A2A", async () => {
  const agent = await addAgent(owner, { endpoint: endpoint.url, agent_protocol: "a2a" });
  await addVersions(agent);
  const columns = {
    output_format: "tool_calls",
    grader: { type: "tool_calls", order: "any", allow_extra: false },
    expected_output: JSON.stringify([]),
  };
  const { tasks } = await addSuite(service, 1, { columns });
  const long = (at: number) => `${at}`.padEnd(120, "\\");
  endpoint.answer = async ({ body, headers }) => {
    const spans = range(2000).map((at) =>
      agentSpan({ kind: "model", name: long(at), provider: long(0), model: long(at), input_tokens: 999_999_999 }),
    );
    await storeSpans(service, String(headers["x-service-run-id"]), spans);
    const text = JSON.stringify({ tool_calls: [{ name: "guess", arguments: "\\".repeat(260_000) }] });
    const result = { kind: "message", messageId: "1", role: "agent", parts: [{ kind: "text", text }] };
    return json(200, { jsonrpc: "2.0", id: (JSON.parse(body.toString()) as { id: string }).id, result });
  };
  const run = await addRun(owner, agent, tasks[0] ?? "");
  await service.settled();
  expect((await owner.call("GET", `/api/v1/runs/${run}`)).body).toMatchObject({
    status: "failed",
    failure_code: "agent_response_too_large",
    evidence_signed: true,
  });
});

it("scores a run of which all is as large as it may be: its task, its spans, its agent's versions, and its answer", async () => {
  const agent = await addAgent(owner, { endpoint: endpoint.url });
  await addVersions(agent);
  // As many characters as JSON of so many KiB has, each of which the database's answer takes four bytes for.
  const text = (kib: number) => "\\".repeat((kib * 1024) / 2 - 100);
  const columns = {
    prompt: `?${"\u0001".repeat(32 * 1024 - 1)}`,
    input: JSON.stringify({ x: text(64) }),
    output_schema: JSON.stringify({ description: text(32) }),
    grader: { type: "json_fields", fields: { [text(32)]: {} } },
    expected_output: JSON.stringify({ x: text(32) }),
    output_format: "json",
  };
  const { tasks } = await addSuite(service, 1, { columns });
  const long = (at: number) => `${at}`.padEnd(120, "\\");
  endpoint.answer = async ({ headers }) => {
    const spans = range(2000).map((at) =>
      agentSpan({
        kind: "model",
        name: long(at),
        provider: long(0),
        model: long(at),
        scope: "01234567",
        parent_span_id: "ffffffffffffffff",
        input_tokens: 999_999_999,
        output_tokens: 999_999_999,
        cost_usd: 123_456.123456789,
      }),
    );
    await storeSpans(service, String(headers["x-service-run-id"]), spans);
    return json(200, { output: { x: "\\".repeat(524_265) } });
  };
  const run = await addRun(owner, agent, tasks[0] ?? "");
  await service.settled();
  expect((await owner.call("GET", `/api/v1/runs/${run}`)).body).toMatchObject({
    status: "completed",
    passed: false,
    evidence_signed: true,
  });
});
