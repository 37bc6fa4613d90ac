import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, caller } from "../stack/client.ts";
import { type Handler, json, type Listening, listen } from "../stack/http.ts";
import { type Deployed, deploy, until } from "./deployed.ts";

let stack: Deployed;
let owner: Caller;
let agent: Listening;
let suiteId: string;
let answer: Handler = () => json(200, { output: "42" });
let calls: string[] = [];

beforeAll(async () => {
  stack = await deploy();
  agent = await listen((request) => {
    calls.push(String(request.headers["x-service-run-id"]));
    return answer(request);
  });
  const registered = await stack.call("POST", "/api/v1/auth/register", {
    email: "owner@example.test",
    password: "correct horse battery",
  });
  expect(registered.status, registered.text).toBe(201);
  const token: string = registered.body.access_token;
  // A token outlives every crash: the keys are kept with the data.
  owner = caller(stack, { authorization: `Bearer ${token}` });
  const suites = await owner.call("GET", "/api/v1/suites");
  suiteId = suites.body.items.find((suite: { slug: string }) => suite.slug === "core").id;
});

afterAll(async () => {
  await agent.close();
  await stack.stop();
});

async function newAgent(name: string): Promise<string> {
  const created = await owner.call("POST", "/api/v1/agents", { name, endpoint: `${agent.url}/run` });
  expect(created.status, created.text).toBe(201);
  return created.body.id;
}

function session(id: string) {
  return owner.call("GET", `/api/v1/screening-sessions/${id}`);
}

async function tasks(count: number): Promise<string[]> {
  const rows = await stack.sql<{ id: string }>(
    "select id from tasks where suite_id = $1 and is_active order by position limit $2",
    [suiteId, count],
  );
  return rows.map(({ id }) => id);
}

describe("a crash of the whole stack", () => {
  it("between the commit and the publication loses no run", async () => {
    const agentId = await newAgent("Published late");
    await stack.console.call("POST", "/faults", { service: "qstash", mode: "down" });
    const batch = await owner.call("POST", "/api/v1/runs/batch", { agent_id: agentId, task_ids: await tasks(5) });
    expect(batch.status, batch.text).toBe(200);
    await stack.crash();
    await stack.restart();
    const [owed] = await stack.sql<{ count: string }>("select count(*) from outbox where consumer = 'dispatch'");
    expect(Number(owed?.count)).toBe(5);
    await stack.sql("update outbox set due_at = now()");
    await stack.console.call("POST", "/cron", { cron: "* * * * *" });
    const { body } = await until(
      () => session(batch.body[0].screening_session_id),
      (read) => read.body.status === "completed",
    );
    expect(body.counts).toMatchObject({ completed: 5, failed: 0 });
    expect(await stack.sql("select * from outbox")).toEqual([]);
  });

  it("in the middle of a call has the run carried out again, once in effect", async () => {
    const agentId = await newAgent("Called twice");
    calls = [];
    answer = () => new Promise(() => undefined);
    const [taskId] = await tasks(1);
    const run = await owner.call("POST", "/api/v1/runs", { agent_id: agentId, task_id: taskId });
    expect(run.status, run.text).toBe(202);
    await until(
      () => Promise.resolve(calls.length),
      (count) => count === 1,
    );
    await stack.crash();
    answer = () => json(200, { output: "42" });
    await stack.restart();
    const held = await owner.call("GET", `/api/v1/runs/${run.body.id}`);
    expect(held.body.status).toBe("running");
    await stack.sql("update runs set lease_expires_at = now() - interval '1 second' where id = $1", [run.body.id]);
    await stack.console.call("POST", "/cron", { cron: "* * * * *" });
    const { body } = await until(
      () => owner.call("GET", `/api/v1/runs/${run.body.id}`),
      (read) => read.body.status !== "running" && read.body.status !== "queued",
    );
    expect(body).toMatchObject({ status: "completed", failure_code: null, evidence_signed: true });
    expect(calls).toEqual([run.body.id, run.body.id]);
    const [kept] = await stack.sql<{ used: number; evidence: string; cells: number }>(
      `select (select used from allowances where kind = 'user') as used,
         (select count(*) from run_evidence where run_id = $1) as evidence,
         (select n from task_scores where agent_id = $2 and period = 'all') as cells`,
      [run.body.id, agentId],
    );
    expect(kept).toMatchObject({ used: 6, evidence: "1", cells: 1 });
  });
});
