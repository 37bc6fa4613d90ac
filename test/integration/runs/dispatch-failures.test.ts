import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { CUT, type Handler, json, listen, type Reply } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, answersRightly, startAgent, type TestSuite } from "./support.ts";

let service: TestService;
let owner: User;
let anonymous: Caller;
let endpoint: Consumer;
let agent: string;
let suite: TestSuite;
let quick: TestSuite;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "pro" });
  anonymous = caller(service);
  endpoint = await startAgent();
  agent = await addAgent(owner, { endpoint: endpoint.url });
  suite = await addSuite(service, 1);
  quick = await addSuite(service, 1, { columns: { time_limit_ms: 1000 } });
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

beforeEach(() => {
  endpoint.seen.length = 0;
});

/** Runs the task against this answer, to its end. */
async function run(answer: Handler, agentId = agent, { tasks } = suite) {
  endpoint.answer = answer;
  const id = await addRun(owner, agentId, tasks[0] ?? "");
  await service.settled();
  return (await owner.call("GET", `/api/v1/runs/${id}`)).body;
}

const never: Handler = ({ gone }) => new Promise((resolve) => gone.addEventListener("abort", () => resolve(CUT)));
const text = (body: string | Buffer, headers: Record<string, string> = {}): Reply => ({ status: 200, headers, body });
const deep = `{"output":${"[".repeat(5000)}${"]".repeat(5000)}}`;
const MIB = 1024 * 1024;
const bomb = gzipSync(`{"output":"${"x".repeat(50 * MIB)}"}`);

describe("an agent fails a run by its own fault when it", () => {
  it.each<[string, string, Handler]>([
    ["redirects", "agent_redirected", () => ({ status: 302, headers: { location: `${endpoint.url}/other` } })],
    ["redirects with the method kept", "agent_redirected", () => ({ status: 307, headers: { location: "/" } })],
    ["answers 500", "agent_http_error", () => json(500, { output: "42" })],
    ["answers 404", "agent_http_error", () => json(404, {})],
    ["answers 201", "agent_http_error", () => json(201, { output: "42" })],
    [
      "has a firewall that asks for a browser by 202",
      "agent_http_error",
      () => ({ status: 202, headers: { "x-amzn-waf-action": "challenge" } }),
    ],
    ["answers 204", "agent_http_error", () => ({ status: 204 })],
    ["answers text", "agent_invalid_response", () => text("forty-two")],
    ["answers nothing", "agent_invalid_response", () => text("")],
    ["answers another shape", "agent_invalid_response", () => json(200, ["42"])],
    ["nests without end", "agent_invalid_response", () => text(deep)],
    ["sends more than 1 MiB", "agent_response_too_large", () => text(`{"output":"${"x".repeat(MIB)}"}`)],
    ["sends a compression bomb", "agent_response_too_large", () => text(bomb, { "content-encoding": "gzip" })],
    ["hangs up", "agent_unreachable", () => CUT],
    ["does not answer in time", "agent_timeout", never],
  ])("%s: %s", async (_case, failure_code, answer) => {
    // A second is short on a loaded machine, so that only the one that never answers has to be done by then.
    const failed = await run(answer, agent, answer === never ? quick : suite);
    expect(failed).toMatchObject({
      status: "failed",
      failure_code,
      passed: false,
      correctness: 0,
      axes: { latency: null, robustness: 0 },
    });
    expect(failed.failure_detail).toEqual(expect.any(String));
    expect(failed.failure_detail).not.toContain(new URL(endpoint.url).host);
    expect(endpoint.seen).toHaveLength(1);
  });

  it("refuses the connection: agent_unreachable", async () => {
    const gone = await listen(() => ({ status: 200 }));
    const dead = await addAgent(owner, { endpoint: gone.url });
    await gone.close();
    expect(await run(answersRightly, dead)).toMatchObject({ status: "failed", failure_code: "agent_unreachable" });
  });

  it.each(["https://10.0.0.1/run", "http://agent.example.com/run", "https://metadata.internal/"])(
    "points at %s, which nobody is called at: endpoint_not_allowed",
    async (url) => {
      const forbidden = await addAgent(owner, { endpoint: endpoint.url });
      await service.sql("update agents set endpoint = $1 where id = $2", [url, forbidden]);
      expect(await run(answersRightly, forbidden)).toMatchObject({
        status: "failed",
        failure_code: "endpoint_not_allowed",
      });
      expect(endpoint.seen).toEqual([]);
    },
  );
});

describe("a failed run", () => {
  it("is signed, counts as not passed, and is charged", async () => {
    const own = await newUser(service);
    const failing = await addAgent(own, { endpoint: endpoint.url });
    endpoint.answer = () => json(500, {});
    const id = await addRun(own, failing, suite.tasks[0] ?? "");
    await service.settled();
    const evidence = await anonymous.call("GET", `/api/v1/runs/${id}/evidence`);
    expect(evidence.body).toMatchObject({
      verified: true,
      statement: { credentialSubject: { run: { failure_code: "agent_http_error" }, result: { passed: false } } },
    });
    const [score] = await service.sql("select n, c from task_scores where agent_id = $1 and period = 'all'", [failing]);
    expect(score).toEqual({ n: 1, c: 0 });
    expect((await own.call("GET", "/api/v1/auth/me")).body.monthly_run_count).toBe(1);
  });

  it("never changes again: not by its owner's report, nor cancelled, nor dispatched or scored anew", async () => {
    const failed = await run(() => json(500, {}));
    const path = `/api/v1/runs/${failed.id}`;
    const read = async () => (await owner.call("GET", path)).text;
    const before = await read();
    expect(await owner.call("PATCH", path, { status: "completed", output: "42" })).toMatchObject({ status: 200 });
    expect((await owner.call("POST", `${path}/cancel`)).status).toBe(200);
    await service.sql(
      `insert into outbox (consumer, id, generation, body, due_at)
       select consumer, $1::uuid, 9, jsonb_build_object('run_id', $1::uuid), now() - interval '1 second'
       from unnest(array['dispatch', 'score', 'expire']) as consumer`,
      [failed.id],
    );
    await service.app.scheduled("* * * * *");
    await service.settled();
    expect(await read()).toBe(before);
    expect(endpoint.seen).toHaveLength(1);
  });
});

describe("Retry-After", () => {
  const busy = (status: number, wait: string): Reply => ({ status, headers: { "retry-after": wait } });
  /** Answers one after the other; the last one for good. */
  const inTurn =
    (...replies: Reply[]): Handler =>
    () =>
      replies[Math.min(endpoint.seen.length, replies.length) - 1] as Reply;
  const right = json(200, { output: "42" });

  it.each([429, 503])("of a %i within the deadline is waited for", async (status) => {
    expect(await run(inTurn(busy(status, "0"), right))).toMatchObject({ status: "completed", passed: true });
    expect(endpoint.seen).toHaveLength(2);
    const [first, second] = endpoint.seen.map(({ headers }) => headers["idempotency-key"]);
    expect(second).toBe(first);
  });

  it.each<[string, Reply[], number, (() => TestSuite)?]>([
    ["is honoured once only", [busy(429, "0"), busy(429, "0"), right], 2],
    ["beyond the deadline is not waited for", [busy(503, "2"), right], 1, () => quick],
    ["that says nothing is not waited for", [busy(429, "soon"), right], 1],
    ["of another status is none", [busy(500, "0"), right], 1],
    ["that is missing is none", [{ status: 503 }, right], 1],
  ])("%s", async (_case, replies, calls, of) => {
    expect(await run(inTurn(...replies), agent, of?.())).toMatchObject({
      status: "failed",
      failure_code: "agent_http_error",
    });
    expect(endpoint.seen).toHaveLength(calls);
  });
});
