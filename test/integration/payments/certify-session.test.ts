import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import type { Sleep } from "../../../shared/results/follow.ts";
import { followSession } from "../../../shared/results/follow-session.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { deliverAll } from "./billing-support.ts";
import { buy, goOn, shortenSuites, statusOf } from "./certify-support.ts";
import { contextOf, eventsOf, type Told } from "../runs/run-events-support.ts";
import { addAgent, bury, quietQueueClient, startAgent } from "../runs/support.ts";
import { subscribe } from "../webhooks/support.ts";

const RUNS = 10;
const ANYBODY = { kind: "anonymous" } as const;

let service: TestService;
let endpoint: Consumer;
let owner: User;

beforeAll(async () => {
  service = await startService({ stripe: true });
  endpoint = await startAgent();
  await shortenSuites(service);
  owner = await newUser(service, { plan: "enterprise" });
  quietQueueClient();
  // No consumer runs: the tests move the runs by hand.
  service.faults.set({ service: "qstash", mode: "error" });
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

/** An agent whose certification is paid and waits, since it could not be called at that moment. */
async function paused() {
  const agent = await addAgent(owner, { endpoint: endpoint.url });
  const { body } = await buy(owner, agent);
  const [row] = await service.sql<{ checkout: string }>(
    "select checkout_session_id as checkout from certifications where id = $1",
    [body.certification_id],
  );
  await service.sql("update agents set connection_mode = 'mock' where id = $1", [agent]);
  await deliverAll(service, service.stripe.pay(row?.checkout ?? ""));
  const { screening_session_id: session } = await statusOf(owner, agent);
  return { agent, certification: body.certification_id, session: session ?? "" };
}

/** Makes the open runs of an agent final: one by a fault of ours where that is asked for, the rest passed. */
const end = (agent: string, faults = 0) =>
  service.sql(
    `update runs r set status = case when n <= $2 then 'failed' else 'completed' end, started_at = now(),
       failure_code = case when n <= $2 then 'service_error' end, finalized_at = now(), passed = n > $2,
       correctness = 1, evidence_cost_usd = 0
     from (select id, row_number() over (order by position, repeat_index) as n from runs
       where agent_id = $1 and status = 'queued') q where q.id = r.id`,
    [agent, faults],
  );

/** Lets the agent of a paused certification be called again, so that its runs are reserved. */
async function resume(agent: string): Promise<void> {
  await service.sql("update agents set connection_mode = 'http_endpoint' where id = $1", [agent]);
  await service.app.scheduled(EVERY_MINUTE);
}

/** How many messages are owed about a session: that it is over, or that it is to be compared with the one before. */
async function owedOf(session: string, consumer: "announce" | "regression"): Promise<number> {
  const rows = await service.sql(
    `select from outbox where consumer = $2 and (id = $1 or body #>> '{data,screening_session_id}' = $1::text
       and body ->> 'type' = 'session.completed')`,
    [session, consumer],
  );
  return rows.length;
}

const read = async (session: string) => (await owner.call("GET", `/api/v1/screening-sessions/${session}`)).body;

describe("the session of a certification", () => {
  it("is over, and its stream ends, with the verdict: not while it is paused, nor while runs are made again", async () => {
    const { agent, certification, session } = await paused();
    let slept = 0;
    const ctx = contextOf(service, () => new Date(Date.now() + slept));
    const steps = [
      async () => {
        await service.sql("update agents set connection_mode = 'http_endpoint' where id = $1", [agent]);
        await service.app.scheduled(EVERY_MINUTE);
      },
      () => end(agent, 1),
      () => goOn(service, certification),
      () => end(agent),
      () => goOn(service, certification),
    ];
    const told: Told[] = [];
    const reads: { status: string; finished_at: string | null; run_ids: string[] }[] = [await read(session)];
    const step: Sleep = async (ms) => {
      slept += ms;
      await steps.shift()?.();
      reads.push(await read(session));
    };
    const stream = await followSession(ctx, ANYBODY, session, "", step);
    if (stream === "seen") throw new Error("nothing was told yet");
    for await (const piece of stream(AbortSignal.timeout(60_000))) told.push(...eventsOf(piece));

    const over = [null, null, null, null, null, expect.any(String)];
    expect(reads.map(({ status }) => status)).toEqual([
      "running",
      "queued",
      "running",
      "running",
      "running",
      "completed",
    ]);
    expect(reads.map(({ finished_at }) => finished_at)).toEqual(over);
    expect(reads.map(({ run_ids }) => run_ids.length)).toEqual([0, RUNS, RUNS, RUNS + 1, RUNS + 1, RUNS + 1]);
    // The stream tells the same, step by step, and of each run what became of it: those that come later stand behind.
    const sessions = told.filter(({ event }) => event === "session");
    expect(sessions.map(({ data }) => data)).toEqual(
      reads.map(({ run_ids: _ids, ...progress }) => {
        const { task_plan: _plan, ...rest } = progress as Record<string, unknown>;
        return rest;
      }),
    );
    expect(sessions.map(({ id }) => id)).toEqual([
      "+",
      `${"q".repeat(RUNS)}+`,
      `f${"c".repeat(RUNS - 1)}+`,
      `f${"c".repeat(RUNS - 1)}q+`,
      `f${"c".repeat(RUNS)}+`,
      `f${"c".repeat(RUNS)}`,
    ]);
    const known = new Map(told.filter(({ event }) => event === "run").map(({ data }) => [data.id, data.status]));
    const ids = reads.at(-1)?.run_ids ?? [];
    expect(ids.map((id) => known.get(id))).toEqual(["failed", ...ids.slice(1).map(() => "completed")]);
    expect(told.at(-1)).toMatchObject({ event: "session", data: { status: "completed" } });

    // Whoever comes back after any of them gets the last one, and nothing after that.
    for (const { id } of sessions.slice(0, -1)) {
      const { text } = await owner.call("GET", `/api/v1/screening-sessions/${session}/events`, undefined, {
        "last-event-id": id ?? "",
      });
      expect(eventsOf(text).at(-1)).toEqual(told.at(-1));
    }
    const after = await owner.call("GET", `/api/v1/screening-sessions/${session}/events`, undefined, {
      "last-event-id": sessions.at(-1)?.id ?? "",
    });
    expect(after.status).toBe(204);
  });

  it("that is paid back before its first run is cancelled, and so is its stream", async () => {
    const { session } = await paused();
    expect(await read(session)).toMatchObject({ status: "running", run_ids: [], finished_at: null });
    const [row] = await service.sql<{ intent: string }>(
      "select payment_intent_id as intent from certifications where screening_session_id = $1",
      [session],
    );
    await deliverAll(service, service.stripe.refund(row?.intent ?? ""));
    expect(await read(session)).toMatchObject({ status: "cancelled", run_ids: [] });
    const path = `/api/v1/screening-sessions/${session}/events`;
    const [last] = eventsOf((await owner.call("GET", path, undefined, { "last-event-id": "+" })).text);
    expect(last).toMatchObject({ id: "-", event: "session", data: { status: "cancelled" } });
    expect((await owner.call("GET", path, undefined, { "last-event-id": "-" })).status).toBe(204);
  });

  it("stays over where the refund fails later, and the log says that its buyer has neither", async () => {
    const { certification, session } = await paused();
    const [row] = await service.sql<{ intent: string }>(
      "select payment_intent_id as intent from certifications where id = $1",
      [certification],
    );
    const told = () => service.logs.filter((line) => line.includes("a refund of a certification failed"));
    await deliverAll(service, service.stripe.refund(row?.intent ?? ""));
    expect(told()).toEqual([]);
    await deliverAll(service, service.stripe.failRefund(row?.intent ?? ""));
    expect((await read(session)).status).toBe("cancelled");
    const [line = "{}", ...more] = told();
    expect([JSON.parse(line), more]).toEqual([
      expect.objectContaining({ level: "error", certification_id: certification }),
      [],
    ]);
  });

  it.each<[string, (agent: string, certification: string) => Promise<unknown>, string]>([
    ["while it is paused", async () => {}, "cancelled"],
    ["while its runs wait", resume, "cancelled"],
    ["while a run is to be made again", async (agent) => resume(agent).then(() => end(agent, 1)), "completed"],
    [
      "after its verdict",
      async (agent, certification) => {
        await resume(agent);
        await end(agent);
        await goOn(service, certification);
      },
      "completed",
    ],
  ])("that is paid back %s is over, and announced as that once", async (_when, work, status) => {
    const { agent, certification, session } = await paused();
    await subscribe(owner, endpoint.url, { event_types: ["session.completed"], agent_id: agent });
    await work(agent, certification);
    const [row] = await service.sql<{ intent: string }>(
      "select payment_intent_id as intent from certifications where id = $1",
      [certification],
    );
    const events = service.stripe.refund(row?.intent ?? "");
    await deliverAll(service, events);
    await service.sql("delete from provider_events");
    await deliverAll(service, events);
    await service.settled();
    expect((await read(session)).status).toBe(status);
    const [kept] = await service.sql("select finished_at from screening_sessions where id = $1", [session]);
    expect([kept, await owedOf(session, "announce")]).toEqual([{ finished_at: expect.any(Date) }, 1]);
  });

  it("is compared with the one before it only once there is a verdict: until then runs may be made again", async () => {
    const { agent, certification, session } = await paused();
    await subscribe(owner, endpoint.url, { event_types: ["regression.detected"], agent_id: agent });
    await service.sql(
      `insert into screening_sessions (agent_id, user_id, trigger, task_plan, repeats, finished_at)
       select agent_id, user_id, 'manual', task_plan, repeats, now() from screening_sessions where id = $1`,
      [session],
    );
    await resume(agent);
    const [last] = await service.sql<{ id: string }>(
      "select id from runs where agent_id = $1 order by position desc, repeat_index desc limit 1",
      [agent],
    );
    await service.sql(
      `update runs set status = 'completed', finalized_at = now(), passed = true, correctness = 1, evidence_cost_usd = 0
       where agent_id = $1 and id <> $2`,
      [agent, last?.id],
    );
    await bury(service, "dispatch", last?.id ?? "");
    expect((await read(session)).counts).toMatchObject({ completed: RUNS - 1, failed: 1 });
    expect(await owedOf(session, "regression")).toBe(0);
    await goOn(service, certification);
    await end(agent);
    expect(await owedOf(session, "regression")).toBe(0);
    await goOn(service, certification);
    expect((await statusOf(owner, agent)).status).toBe("certified");
    expect(await owedOf(session, "regression")).toBe(1);
  });
});
