import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { EVERY_MINUTE } from "../../../functions/scheduled.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, quietQueueClient, startAgent } from "../runs/support.ts";

const DAY_MS = 86_400_000;

/** What a request to QStash takes of the service's clock, in milliseconds. */
let requestMs = 0;
let service: TestService;
/** Another on QStash's smallest plan, whose limits are the tightest. */
let small: TestService;
let endpoint: Consumer;

beforeAll(async () => {
  const start = Date.now();
  // Starting asks for the time already.
  let requests = () => 0;
  const now = () => new Date(start + requests() * requestMs);
  [service, small] = await Promise.all([startService({ overrides: { now } }), startService({ plan: "free" })]);
  requests = () => service.counters.qstash.requests;
  endpoint = await startAgent();
  quietQueueClient();
});

afterAll(async () => {
  await endpoint.stop();
  await Promise.all([service.stop(), small.stop()]);
});

beforeEach(() => {
  for (const { counters } of [service, small]) counters.reset();
});

afterEach(async () => {
  service.faults.set({ service: "qstash", mode: "none" });
  requestMs = 0;
  for (const one of [service, small]) await one.sql("delete from outbox");
});

interface Row {
  consumer?: string;
  flow_key?: string;
  bytes?: number;
}

/** Owes the queue messages that came due; it would deliver them in five days. */
async function owe(
  count: number,
  { consumer = "recheck", flow_key, bytes = 0 }: Row = {},
  at = service,
): Promise<void> {
  await at.sql(
    `insert into outbox (consumer, id, body, flow_key, not_before, due_at)
     select $2, gen_random_uuid(), jsonb_build_object('agent_id', gen_random_uuid() || repeat('x', $4)), $3,
       now() + interval '5 days', now()
     from generate_series(1, $1)`,
    [count, consumer, flow_key ?? null, bytes],
  );
}

/** One minute passes. */
async function minute(at = service): Promise<void> {
  await at.sql("update outbox set due_at = due_at - interval '1 minute'");
  await at.app.scheduled(EVERY_MINUTE);
}

/** Whether the service says that the queue answers, and that it takes what it is owed. */
async function told(at = service): Promise<unknown> {
  const { dependencies, messages } = (await caller(at).call("GET", "/readyz")).body as Record<
    string,
    { queue?: string }
  >;
  return [dependencies?.queue, messages];
}

/** What the queue is owed has been so for some minutes longer. */
const age = (minutes: number, at = service) =>
  at.sql("update outbox set created_at = created_at - make_interval(mins => $1)", [minutes]);

/** Requests to the database. The driver, one for all of a process, sends both services' by the same way. */
const statements = () => service.counters.db.requests + small.counters.db.requests;
const left = (at = service) => at.sql("select consumer, attempts from outbox order by consumer");
const sent = (at = service) => at.counters.snapshot().qstash;
const refusals = (at: TestService) =>
  at.logs.filter((line) => line.includes("message refused")).map((line) => JSON.parse(line));

describe("the minute's sweep", () => {
  it("empties the outbox, however full it is, in batches of a hundred and few statements", async () => {
    // The log takes up what starting put there, and the epochs note it.
    for (let minutes = 0; minutes < 3; minutes += 1) await minute();
    const before = statements();
    await minute();
    const idle = statements() - before;
    service.counters.reset();
    small.counters.reset();
    await owe(1_230);
    await minute();
    expect(await left()).toEqual([]);
    expect(sent()).toEqual({ requests: 13, messages: 1_230 });
    // Three pieces, each claimed and settled, and the look that finds no more.
    expect(statements() - idle).toBe(3 * 2);
  });

  it("sends no request that is larger than the largest message", async () => {
    await owe(12, { bytes: 200_000 });
    await minute();
    expect(await left()).toEqual([]);
    expect(sent()).toEqual({ requests: 6, messages: 12 });
  });

  it("begins no further piece when its time is over; the next minute's goes on", async () => {
    requestMs = 10_000;
    await owe(600);
    await minute();
    expect(sent().messages).toBe(500);
    await minute();
    expect(await left()).toEqual([]);
  });

  it("shares the work with another that runs beside it: each message is published once", async () => {
    await owe(900);
    await Promise.all([1, 2, 3].map(() => service.app.scheduled(EVERY_MINUTE)));
    expect(await left()).toEqual([]);
    expect(sent().messages).toBe(900);
  });
});

describe("an outage of the queue", () => {
  it.each(["down", "error"] as const)(
    "is probed by one request a minute, and over for all with the first that goes through (%s)",
    async (mode) => {
      service.faults.set({ service: "qstash", mode });
      await owe(700);
      for (let minutes = 0; minutes < 8; minutes += 1) {
        service.counters.reset();
        await minute();
        expect(sent().requests).toBe(1);
      }
      expect(await left()).toHaveLength(700);
      service.faults.set({ service: "qstash", mode: "none" });
      await minute();
      expect(await left()).toEqual([]);
    },
  );

  it("is told once it lasts, also where the queue still answers what it is asked", async () => {
    service.faults.set({ service: "qstash", mode: "rate_limited", path: "POST " });
    await owe(700);
    await age(4);
    await minute();
    expect(await told(), "it may be a hitch").toEqual(["ok", "ok"]);
    await age(2);
    await minute();
    await owe(30);
    expect(await told()).toEqual(["ok", "down"]);
    service.faults.set({ service: "qstash", mode: "none" });
    await minute();
    expect(await told()).toEqual(["ok", "ok"]);
  });

  it("that loses an answer has nothing delivered twice", async () => {
    const { pending } = service.broker.stats();
    service.faults.set({ service: "qstash", mode: "lost", count: 1 });
    await owe(250);
    await minute();
    expect(await left()).toHaveLength(250);
    await minute();
    expect(await left()).toEqual([]);
    expect(service.broker.stats().pending - pending).toBe(250);
  });
});

describe("a message that QStash refuses", () => {
  it.each<[string, Row]>([
    ["in its answer to the batch", { consumer: "announce", bytes: 1_000_000 }],
    ["with the whole batch", { consumer: "dispatch", flow_key: "no name" }],
    ["before it is sent, as nobody takes it", { consumer: "retired" }],
  ])("%s is kept and put off by itself, while all others go", async (_how, bad) => {
    const before = refusals(small).length;
    await owe(60, {}, small);
    await owe(1, bad, small);
    await owe(140, {}, small);
    for (let attempts = 1; attempts <= 3; attempts += 1) {
      await small.sql("update outbox set due_at = now()");
      await minute(small);
      expect(await left(small)).toEqual([{ consumer: bad.consumer, attempts }]);
      const [row] = await small.sql<{ wait: number }>(
        "select extract(epoch from due_at - now())::float as wait from outbox",
      );
      expect(row?.wait).toBeGreaterThan(60 * 2 ** (attempts - 1) - 30);
      expect(row?.wait).toBeLessThanOrEqual(60 * 2 ** (attempts - 1));
    }
    expect(refusals(small).slice(before)).toHaveLength(3);
    expect(refusals(small).at(-1)).toMatchObject({ level: "error", consumer: bad.consumer });
  });

  it("does not keep those behind it waiting, however many there are", async () => {
    await owe(500, { consumer: "retired" });
    await service.sql("update outbox set due_at = due_at - interval '1 hour'");
    await owe(30);
    await minute();
    expect(await left()).toHaveLength(530);
    await service.app.scheduled(EVERY_MINUTE);
    expect((await left()).map(({ consumer }) => consumer)).toEqual(Array(500).fill("retired"));
  });

  it("for the day, as the plan's messages are used up, waits for the next day with all others", async () => {
    await small.broker.advance(DAY_MS);
    await owe(1_100, {}, small);
    await minute(small);
    expect(await left(small)).toHaveLength(100);
    small.counters.reset();
    await age(6, small);
    await minute(small);
    expect(sent(small).requests).toBe(1);
    expect(await told(small)).toEqual(["ok", "down"]);
    await small.broker.advance(DAY_MS);
    await minute(small);
    expect(await left(small)).toEqual([]);
  });
});

describe("a message that only waits its turn in the queue", () => {
  it("is published once more at most, however long it waits", async () => {
    endpoint.answer = () => ({ status: 202 });
    const owner = await newUser(service);
    const agent = await addAgent(owner, { endpoint: endpoint.url });
    await addRun(owner, agent, (await addSuite(service, 1)).tasks[0] ?? "");
    await service.settled();
    expect(await left()).toEqual([{ consumer: "expire", attempts: 0 }]);
    service.counters.reset();
    for (let minutes = 0; minutes < 6; minutes += 1) await minute();
    expect(sent().messages).toBe(1);
  });
});
