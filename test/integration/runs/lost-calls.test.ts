import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { agentSpan, storeSpans } from "../agents/telemetry-spans.ts";
import { addAgent, addRun, addSuite, callbackIn, KEY, quietQueueClient, startAgent, used } from "./support.ts";

let service: TestService;
let owner: User;
let endpoint: Consumer;
let task: string;

beforeAll(async () => {
  quietQueueClient();
  endpoint = await startAgent();
  service = await startService();
  task = (await addSuite(service, 1)).tasks[0] ?? "";
});

afterAll(async () => {
  await service.stop();
  await endpoint.stop();
});

beforeEach(async () => {
  endpoint.seen.length = 0;
  service.faults.set({ service: "db", mode: "none" });
  owner = await newUser(service, { plan: "pro" });
});

/** The database takes nothing of what the call that is open now comes to. */
const losesCall = () => service.faults.set({ service: "db", mode: "error", count: 4 });

/** Lets the lease of the lost attempt run out, and the minute's work find the run. */
async function leaseRunsOut(run: string): Promise<void> {
  service.faults.set({ service: "db", mode: "none" });
  await service.sql("update runs set lease_expires_at = now() - interval '1 second' where id = $1", [run]);
  await service.app.scheduled(EVERY_MINUTE);
  await service.settled();
}

const runOf = async (run: string) => (await owner.call("GET", `/api/v1/runs/${run}`)).body;

describe("a call of which we lose what came of it", () => {
  it("is not made again where its answer was reported and taken meanwhile: that is our fault, and costs nothing", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    endpoint.answer = async ({ body }) => {
      const { runId, token } = callbackIn(body);
      const report = { status: "completed", output: KEY };
      const agentCalls = caller(service, { authorization: `Bearer ${token}` });
      expect((await agentCalls.call("PATCH", `/api/v1/runs/${runId}`, report)).status).toBe(200);
      losesCall();
      return { status: 202 };
    };
    const run = await addRun(owner, agent, task);
    await service.settled();
    await leaseRunsOut(run);
    expect(await runOf(run)).toMatchObject({ status: "failed", failure_code: "service_error", evidence_signed: false });
    expect([endpoint.seen.length, await used(service, "user", owner.id)]).toEqual([1, 0]);
  });

  it("leaves nothing of its telemetry to the one that is made in its place", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    await owner.call("POST", `/api/v1/agents/${agent}/otlp-token`);
    const spans = [
      agentSpan({
        kind: "model",
        name: "chat",
        provider: "openai",
        model: "gpt-5-mini",
        input_tokens: 1000,
        output_tokens: 100,
      }),
      agentSpan({ kind: "tool", name: "look up" }),
    ];
    endpoint.answer = async ({ headers }) => {
      await storeSpans(
        service,
        String(headers["x-service-run-id"]),
        endpoint.seen.length === 1 ? spans : spans.slice(0, 1),
      );
      if (endpoint.seen.length === 1) losesCall();
      return json(200, { output: KEY });
    };
    const run = await addRun(owner, agent, task);
    await service.settled();
    await leaseRunsOut(run);
    await service.broker.advance(7500);
    await service.settled();
    expect(await runOf(run)).toMatchObject({
      status: "completed",
      input_tokens: 1000,
      output_tokens: 100,
      evidence_total_call_count: 1,
      tool_calls_made: 0,
    });
    expect(endpoint.seen).toHaveLength(2);
  });
});
