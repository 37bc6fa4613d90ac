import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createService } from "../../../functions/service.ts";
import { DELIVERIES } from "../../../queues/index.ts";
import type { Context } from "../../../shared/platform/context.ts";
import { announce } from "../../../shared/webhooks/announce.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { type Recorder, startRecorder } from "../http/plans-support.ts";
import { addAgent, range } from "../runs/support.ts";
import { subscribe } from "./support.ts";

let service: TestService;
let recorder: Recorder;
let owner: User;
let agent: string;
let ctx: Context;

beforeAll(async () => {
  recorder = await startRecorder();
  service = await startService({ settings: { NEON_LOCAL_PROXY: recorder.url } });
  owner = await newUser(service, { plan: "enterprise" });
  agent = await addAgent(owner);
  for (const n of range(2)) await subscribe(owner, `http://127.0.0.1:9/${n}`);
  ctx = createService(service.settings, DELIVERIES, { log: () => undefined }).context({
    requestId: "test",
    addressHash: null,
    defer: () => undefined,
  });
});

afterAll(async () => {
  await service.stop();
  await recorder.close();
});

beforeEach(async () => {
  await service.sql("delete from webhook_events");
  recorder.statements.length = 0;
});

const event = (data: Record<string, unknown> = {}, created_at = "2026-11-21T09:00:00.123Z") =>
  ({ id: randomUUID(), type: "run.completed", created_at, agent_id: agent, data }) as const;

/** How many attempts there are by event, each to another subscription. */
const attempts = () =>
  service.sql<{ id: string; n: number }>(
    "select event_id as id, count(distinct webhook_id)::integer as n from webhook_deliveries group by 1 having count(*) = count(distinct webhook_id)",
  );

it("events that are announced at a time share a statement, and each is announced once", async () => {
  const events = range(30).map(() => event());
  await Promise.all([...events, ...events].map((one) => announce(ctx, one)));
  const sorted = (ids: string[]) => ids.toSorted();
  expect(sorted((await attempts()).map(({ id, n }) => `${id} ${n}`))).toEqual(
    sorted(events.map(({ id }) => `${id} 2`)),
  );
  expect(recorder.statements.length).toBeLessThanOrEqual(3);
});

it("a long one goes by itself", async () => {
  const [first, long, last] = [event(), event({ text: "x".repeat(20_000) }), event()];
  await Promise.all([first, long, last].map((one) => announce(ctx, one)));
  expect(await attempts()).toHaveLength(3);
  const shared = recorder.statements.filter(({ params }) => JSON.stringify(params).includes(long.id));
  expect(shared).toHaveLength(1);
  expect(JSON.stringify(shared)).not.toContain(first.id);
  expect(JSON.stringify(shared)).not.toContain(last.id);
});

it("one that the database refuses keeps none of the others back", async () => {
  const refused = event({}, "never");
  const events = [event(), event(), refused, event()];
  const outcomes = await Promise.allSettled(events.map((one) => announce(ctx, one)));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  expect((await attempts()).map(({ n }) => n)).toEqual([2, 2, 2]);
});
