import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import type { Fault } from "../../stack/faults.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addRun, addSuite, KEY, startAgent, type TestSuite } from "../runs/support.ts";
import { newSender, send, type Sender, spansOf } from "./otlp-support.ts";

/** What the statement alone has that keeps spans. */
const KEEPING = "last_received_at";

let service: TestService;
let owner: User;
let endpoint: Consumer;
let sender: Sender;
let suite: TestSuite;
let ahead = 0;

beforeAll(async () => {
  service = await startService({ overrides: { now: () => new Date(Date.now() + ahead) } });
  owner = await newUser(service, { plan: "pro" });
  endpoint = await startAgent(() => json(200, { output: KEY }));
  sender = await newSender(owner);
  await owner.call("PATCH", `/api/v1/agents/${sender.agent}`, { endpoint: endpoint.url });
  suite = await addSuite(service, 1);
});

afterEach(() => {
  for (const kind of ["db", "redis"] as const) service.faults.set({ service: kind, mode: "none" });
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

/** A run that has been answered, and whose export met `fault`. */
async function refused(fault: Omit<Fault, "service" | "body">): Promise<string> {
  const run = await addRun(owner, sender.agent, suite.tasks[0] ?? "");
  await service.settled();
  service.faults.set({ service: "db", body: KEEPING, ...fault });
  expect((await send(service, sender, spansOf(run, 1))).status).toBe(503);
  return run;
}

async function pass(ms: number): Promise<void> {
  ahead += ms;
  await service.broker.advance(ms);
  await service.settled();
}

/** Where a run stands, and whether its spans are part of what was scored. */
async function standing(run: string): Promise<[status: string, collected?: string]> {
  const { status } = (await owner.call("GET", `/api/v1/runs/${run}`)).body;
  const { items } = (await owner.call("GET", `/api/v1/runs/${run}/phases`)).body;
  const collected = items.find(({ phase }: { phase: string }) => phase === "telemetry_collected");
  return collected === undefined ? [status] : [status, collected.outcome];
}

it.each(["down", "error"] as const)(
  "spans that the database (%s) could not take are waited for a minute more, so that no cost is lost by a fault of ours",
  async (mode) => {
    const run = await refused({ mode, count: 1 });
    await pass(7500);
    expect(await standing(run)).toEqual(["running"]);
    expect((await send(service, sender, spansOf(run, 1))).status).toBe(200);
    await pass(60_000);
    expect(await standing(run)).toEqual(["completed", "succeeded"]);
  },
);

it("a run whose spans do not come again is scored without them when the minute is over", async () => {
  const run = await refused({ mode: "down", count: 1 });
  await pass(7500);
  await pass(60_000);
  expect(await standing(run)).toEqual(["completed", "unavailable"]);
});

it("a run does not wait longer, however often its spans are refused meanwhile", async () => {
  const run = await refused({ mode: "down", count: 1 });
  await pass(7500);
  await pass(45_000);
  service.faults.set({ service: "db", body: KEEPING, mode: "down", count: 1 });
  expect((await send(service, sender, spansOf(run, 1))).status).toBe(503);
  await pass(15_000);
  expect(await standing(run)).toEqual(["completed", "unavailable"]);
});

it("what is scored does not wait for Redis", async () => {
  const run = await refused({ mode: "down", count: 1 });
  service.faults.set({ service: "redis", mode: "down" });
  await pass(7500);
  expect((await standing(run))[0]).toBe("completed");
});
