import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { PublicJwk } from "../../../shared/platform/keys.ts";
import { verifyRequest } from "../../../shared/platform/outbound/signature.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import type { Request } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, answersRightly, startAgent, type TestSuite } from "./support.ts";

let service: TestService;
let owner: User;
let anonymous: Caller;
let endpoint: Consumer;
let agent: string;
let suite: TestSuite;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "pro" });
  anonymous = caller(service);
  endpoint = await startAgent();
  agent = await addAgent(owner, { endpoint: `${endpoint.url}?tenant=1` });
  suite = await addSuite(service, 2);
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

beforeEach(async () => {
  await service.settled();
  endpoint.seen.length = 0;
  endpoint.answer = answersRightly;
});

/** Runs a task to its end and gives the request that the agent got. */
async function received(
  taskId: string | undefined,
): Promise<{ runId: string; request: Request; body: Record<string, unknown> }> {
  const runId = await addRun(owner, agent, taskId ?? "");
  await service.settled();
  expect(endpoint.seen).toHaveLength(1);
  const request = endpoint.seen[0] as Request;
  return { runId, request, body: JSON.parse(request.body.toString()) as Record<string, unknown> };
}

describe("the request that an agent gets", () => {
  it("is that of decisions section 5, exactly", async () => {
    const before = Date.now();
    const { runId, request, body } = await received(suite.tasks[0]);
    expect(body).toEqual({
      protocol: "2026-11",
      run_id: runId,
      screening_session_id: null,
      repeat_index: 1,
      repeat_total: 1,
      task: { domain: "math", prompt: "What is six times seven?", output_format: "text" },
      deadline: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      callback: {
        method: "PATCH",
        url: `${service.url}/api/v1/runs/${runId}`,
        token: expect.stringMatching(/^run_[\w-]{40,}$/),
      },
    });
    const limit = Date.parse(String(body["deadline"])) - before;
    expect(limit).toBeGreaterThanOrEqual(60_000);
    expect(limit).toBeLessThan(90_000);
    expect(request.method).toBe("POST");
    expect(request.url.search).toBe("?tenant=1");
  });

  it("carries input, schema and tools where the task has them", async () => {
    const extra = {
      input: { items: [1, 2] },
      output_schema: { type: "object" },
      tools: [{ name: "add", description: "Adds.", parameters: { type: "object" } }],
    };
    const columns = Object.fromEntries(Object.entries(extra).map(([name, value]) => [name, JSON.stringify(value)]));
    const rich = await addSuite(service, 1, { columns: { ...columns, output_format: "json", domain: "tool_use" } });
    const { body } = await received(rich.tasks[0]);
    expect(body["task"]).toEqual({
      ...extra,
      domain: "tool_use",
      prompt: "What is six times seven?",
      output_format: "json",
    });
  });

  it("names run, retry key, trace and sender in its headers", async () => {
    const { runId, request } = await received(suite.tasks[0]);
    const trace = runId.replaceAll("-", "");
    expect(request.headers).toMatchObject({
      "content-type": "application/json",
      "x-service-run-id": runId,
      "idempotency-key": runId,
      traceparent: expect.stringMatching(new RegExp(`^00-${trace}-[0-9a-f]{16}-0[01]$`)),
      "user-agent": `AgentScreening/1.0 (+${service.url}/docs)`,
    });
  });

  it("is signed with a key of the service's own directory, for this URL and body", async () => {
    const { request } = await received(suite.tasks[0]);
    const directory = await anonymous.call<{ keys: PublicJwk[] }>(
      "GET",
      "/.well-known/http-message-signatures-directory",
    );
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const signed = { method: "POST", url: `${endpoint.url}?tenant=1`, headers, body: request.body };
    const verify = (change: Partial<typeof signed>) =>
      verifyRequest({ ...signed, ...change }, directory.body, { now: new Date() });
    expect(await verify({})).toMatchObject({ ok: true });
    expect(await verify({ body: Buffer.from(`${request.body.toString()} `) })).toMatchObject({ ok: false });
    expect(await verify({ url: endpoint.url })).toMatchObject({ ok: false });
  });

  it("tells nothing by which the task could be looked up", async () => {
    const { request } = await received(suite.tasks[0]);
    const everything = JSON.stringify(request.headers) + request.url.href + request.body.toString();
    const [task] = await service.sql<{ title: string }>("select title from tasks where id = $1", [suite.tasks[0]]);
    for (const secret of [suite.tasks[0], suite.id, agent, owner.id, task?.title, "exact"])
      expect(everything).not.toContain(secret);
  });

  it("names session and repeat in a batch, at most 4 at a time", async () => {
    let open = 0;
    let most = 0;
    endpoint.answer = async (request) => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return answersRightly(request);
    };
    const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, suite_id: suite.id, repeats: 10 });
    await service.settled();
    const bodies = endpoint.seen.map(({ body }) => JSON.parse(body.toString()));
    expect(bodies).toHaveLength(batch.body.length);
    for (const run of batch.body) {
      expect(bodies.find(({ run_id }) => run_id === run.id)).toMatchObject({
        screening_session_id: run.screening_session_id,
        repeat_index: run.repeat_index,
        repeat_total: 10,
      });
    }
    expect(most).toBeLessThanOrEqual(4);
  });
});

describe("a run that was answered", () => {
  it("is graded, priced and signed, with its facts in order", async () => {
    const { runId } = await received(suite.tasks[0]);
    const run = await anonymous.call("GET", `/api/v1/runs/${runId}`);
    expect(run.body).toMatchObject({
      status: "completed",
      passed: true,
      correctness: 1,
      failure_code: null,
      evidence_cost_usd: 0.001,
      evidence_cost_source: "self_reported",
      evidence_cost_partial: false,
      evidence_priced_call_count: 1,
      evidence_signed: true,
      suite_id: suite.id,
      suite_version: 1,
    });
    const phases = await anonymous.call("GET", `/api/v1/runs/${runId}/phases`);
    const facts = phases.body.items.map(({ sequence, phase, outcome }: Record<string, unknown>) => [
      sequence,
      phase,
      outcome,
    ]);
    expect(facts).toEqual([
      [1, "dispatched", "succeeded"],
      [2, "agent_responding", "started"],
      [3, "agent_responding", "succeeded"],
      [4, "response_received", "succeeded"],
      [5, "output_evaluated", "succeeded"],
      [6, "telemetry_collected", "unavailable"],
      [7, "architecture_hashed", "unavailable"],
      [8, "architecture_compared", "not_applicable"],
      [9, "scored", "succeeded"],
      [10, "evidence_signed", "succeeded"],
    ]);
    const evidence = await anonymous.call("GET", `/api/v1/runs/${runId}/evidence`);
    expect(evidence.body.verified).toBe(true);
    expect(evidence.body.statement.credentialSubject).toMatchObject({
      id: `urn:uuid:${agent}`,
      run: { id: runId, execution: "real", status: "completed" },
      result: { passed: true, correctness: "1.0000" },
    });
  });

  it("that is wrong is completed and not passed", async () => {
    endpoint.answer = () => ({ status: 200, headers: { "content-type": "application/json" }, body: '{"output":"41"}' });
    const { runId } = await received(suite.tasks[0]);
    const { body } = await anonymous.call("GET", `/api/v1/runs/${runId}`);
    expect(body).toMatchObject({ status: "completed", passed: false, correctness: 0, evidence_signed: true });
  });
});

describe("a mock agent", () => {
  it("is never called, and its runs complete without evidence", async () => {
    const mock = await addAgent(owner);
    const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id: mock, suite_id: suite.id, repeats: 5 });
    await service.settled();
    expect(endpoint.seen).toEqual([]);
    for (const { id } of batch.body) {
      const { body } = await anonymous.call("GET", `/api/v1/runs/${id}`);
      expect(body).toMatchObject({ status: "completed", simulated: true, evidence_signed: false });
      expect((await anonymous.call("GET", `/api/v1/runs/${id}/evidence`)).status).toBe(404);
    }
  });
});

describe("a screening on the shipped core suite", () => {
  it("goes from one batch to a ranked place on the board", async () => {
    const [core] = await service.sql<{ id: string }>("select id from suites where slug = 'core'");
    const screened = await addAgent(owner, { endpoint: endpoint.url });
    const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id: screened, suite_id: core?.id });
    await service.settled();
    expect(service.logs.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    const session = await anonymous.call("GET", `/api/v1/screening-sessions/${batch.body[0].screening_session_id}`);
    expect(session.body).toMatchObject({ status: "completed", counts: { completed: 40 } });
    const { body } = await anonymous.call("GET", "/api/v1/leaderboard");
    expect(body.items[0]).toMatchObject({ rank: 1, agent_id: screened, score_basis: "core", tasks: 40, runs: 40 });
  });
});
