import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, range, startAgent, used } from "./support.ts";

let service: TestService;
let endpoint: Consumer;
let owner: User;

beforeAll(async () => {
  service = await startService();
  endpoint = await startAgent();
  owner = await newUser(service, { plan: "pro" });
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

interface Callback {
  url: string;
  token: string;
}

/** Promises to report on each run, and resolves to how, in the order of the calls. */
function promising(): Callback[] {
  const callbacks: Callback[] = [];
  endpoint.answer = ({ body }) => {
    callbacks.push((JSON.parse(body.toString()) as { callback: Callback }).callback);
    return { status: 202 };
  };
  return callbacks;
}

async function report({ url, token }: Callback, output: string): Promise<void> {
  const { status } = await fetch(url, {
    method: "PATCH",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ status: "completed", output, usage: { calls: [{ cost_usd: 0.001 }] } }),
  });
  expect(status).toBe(200);
  await service.settled();
}

describe("an agent has no say", () => {
  it("in which ten of its runs are scored, whatever the order in which it reports on them", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const { tasks } = await addSuite(service, 1);
    const callbacks = promising();
    for (const _batch of range(2)) {
      await owner.call("POST", "/api/v1/runs/batch", { agent_id: agent, task_ids: tasks, repeats: 10 });
      await service.settled();
    }
    expect(callbacks).toHaveLength(20);
    const [known, unknown] = [true, false].map((even) => callbacks.filter((_callback, n) => (n % 2 === 0) === even));
    for (const callback of unknown ?? []) await report(callback, "no idea");
    for (const callback of known ?? []) await report(callback, "42");
    const { items } = (await caller(service).call("GET", "/api/v1/leaderboard?page_size=100")).body;
    expect(items.find((row: { agent_id: string }) => row.agent_id === agent)).toMatchObject({
      runs: 10,
      success_rate: 0.5,
    });
  });

  it.each<[string, object]>([
    ["calls that cost a billion together", { calls: range(1001).map(() => ({ cost_usd: 1e6 })) }],
    ["a total that no statement can hold", { cost_usd: 1e300 }],
    ["tokens beyond counting", { calls: range(100).map(() => ({ input_tokens: 1e9, output_tokens: 1e300 })) }],
  ])("in whether a run counts: a wrong answer that reports %s does", async (_what, usage) => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const { tasks } = await addSuite(service, 1);
    const before = await used(service, "user", owner.id);
    endpoint.answer = () => json(200, { output: "I do not know", usage });
    const run = await addRun(owner, agent, tasks[0] ?? "");
    await service.settled();
    expect((await owner.call("GET", `/api/v1/runs/${run}`)).body).toMatchObject({
      status: "completed",
      passed: false,
      failure_code: null,
      evidence_signed: true,
    });
    expect((await used(service, "user", owner.id)) - before).toBe(1);
  });

  it("in what a statement says of how it was called, by being changed before it reports", async () => {
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    const { tasks } = await addSuite(service, 1);
    const callbacks = promising();
    const run = await addRun(owner, agent, tasks[0] ?? "");
    await service.settled();
    const changes = { agent_protocol: "openai_chat", connection_mode: "mock" };
    expect((await owner.call("PATCH", `/api/v1/agents/${agent}`, changes)).status).toBe(200);
    for (const callback of callbacks) await report(callback, "42");
    const { body } = await owner.call("GET", `/api/v1/runs/${run}/evidence`);
    expect(body.statement.credentialSubject.run).toMatchObject({
      execution: "real",
      agent_protocol: "native",
      connection_mode: "http_endpoint",
    });
  });
});
