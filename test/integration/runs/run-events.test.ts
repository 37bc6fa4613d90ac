import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { streamed } from "../../../shared/http/stream.ts";
import type { Principal } from "../../../shared/identity/principal.ts";
import type { Context } from "../../../shared/platform/context.ts";
import { pause, type Sleep } from "../../../shared/results/follow.ts";
import { followRun, type RunCursor } from "../../../shared/results/follow-run.ts";
import type { Consumer } from "../../stack/broker/harness.ts";
import { type Caller, caller, newUser, type User } from "../../stack/client.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { contextOf, eventsOf, sessionOf } from "./run-events-support.ts";
import { addAgent, addRun, addSuite, deliver, quietQueueClient, startAgent, type TestSuite } from "./support.ts";

const ANONYMOUS: Principal = { kind: "anonymous" };
const NOW = Date.UTC(2026, 10, 21, 12);

let service: TestService;
let owner: User;
let anonymous: Caller;
let endpoint: Consumer;
let agent: string;
let suite: TestSuite;
let ctx: Context;
let now = NOW;

beforeAll(async () => {
  service = await startService();
  owner = await newUser(service, { plan: "enterprise" });
  anonymous = caller(service);
  endpoint = await startAgent();
  agent = await addAgent(owner, { endpoint: endpoint.url });
  suite = await addSuite(service, 3);
  ctx = contextOf(service, () => new Date(now));
  quietQueueClient();
});

afterAll(async () => {
  await endpoint.stop();
  await service.stop();
});

afterEach(() => service.faults.set({ service: "db", mode: "none" }));

const runOf = (who: Caller, run: string) => who.call("GET", `/api/v1/runs/${run}`);
const dbRequests = () => service.counters.snapshot().db.requests;

/** A clock that is moved on by each pause; `script` says what happens during the first pauses, one after the other. */
function scripted(script: (() => Promise<unknown>)[]): { sleep: Sleep; pauses: number[] } {
  const pauses: number[] = [];
  now = NOW;
  const sleep: Sleep = async (ms) => {
    now += ms;
    pauses.push(ms);
    await script[pauses.length - 1]?.();
  };
  return { sleep, pauses };
}

async function open(run: string, sleep: Sleep, after: RunCursor = 0, who: Principal = ANONYMOUS) {
  const stream = await followRun(ctx, who, run, after, sleep);
  if (stream === "seen") throw new Error("nothing to follow");
  return streamed(ctx, stream);
}

const textOf = (stream: ReadableStream<Uint8Array>) => new Response(stream).text();

describe("the events of a final run", () => {
  let run: string;
  beforeAll(async () => {
    run = await addRun(owner, agent, suite.tasks[0] ?? "");
    await service.settled();
  });

  it.each([
    ["anybody", () => anonymous],
    ["the owner, who sees more", () => owner],
  ])("are all told at once to %s: its facts in order, then the run, by one look", async (_who, who) => {
    const { items } = (await who().call("GET", `/api/v1/runs/${run}/phases`)).body;
    const { body } = await runOf(who(), run);
    service.counters.reset();
    const { status, headers, text } = await who().call("GET", `/api/v1/runs/${run}/events`);
    expect(dbRequests()).toBe(1);
    expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    expect([headers.get("cache-control"), headers.get("x-accel-buffering")]).toEqual(["no-store", "no"]);
    expect(eventsOf(text)).toEqual([
      ...items.map((data: { sequence: number }) => ({ id: String(data.sequence), event: "phase", data })),
      { id: "final", event: "run", data: body },
    ]);
    expect(items.length).toBeGreaterThan(5);
  });

  it.each([
    ["", 1],
    ["0", 1],
    ["3", 4],
    ["999999999", null],
  ])("go on behind Last-Event-ID %j", async (id, next) => {
    const { text } = await anonymous.call("GET", `/api/v1/runs/${run}/events`, undefined, { "last-event-id": id });
    const [first] = eventsOf(text);
    expect(first).toMatchObject(next === null ? { event: "run" } : { event: "phase", id: String(next) });
    expect(eventsOf(text).at(-1)?.event).toBe("run");
  });

  it("are over for a reader that has had the last one: 204, at which an EventSource stops", async () => {
    const answer = await anonymous.call("GET", `/api/v1/runs/${run}/events`, undefined, { "last-event-id": "final" });
    expect([answer.status, answer.text]).toEqual([204, ""]);
  });

  it("cost a HEAD no more than the first look, and leave nothing behind", async () => {
    service.counters.reset();
    const answer = await anonymous.call("HEAD", `/api/v1/runs/${run}/events`);
    expect([answer.status, answer.text, dbRequests()]).toEqual([200, "", 1]);
  });
});

describe("Last-Event-ID", () => {
  it.each([
    ["runs", "x"],
    ["runs", "-1"],
    ["runs", "1.5"],
    ["runs", "1, 2"],
    ["runs", "9999999999"],
    ["runs", "'; drop table runs"],
    ["screening-sessions", "1"],
    ["screening-sessions", "qrz"],
    ["screening-sessions", "q".repeat(10_001)],
  ])("that no stream of %s ever gave is refused: %s", async (kind, id) => {
    const path = `/api/v1/${kind}/01938e7a-0000-7000-8000-000000000009/events`;
    const answer = await anonymous.call("GET", path, undefined, { "last-event-id": id });
    expect(answer).toMatchObject({
      status: 422,
      body: {
        code: "validation_failed",
        errors: [{ in: "header", pointer: "/Last-Event-ID", code: "invalid_format" }],
      },
    });
  });
});

describe("a run that is under way", () => {
  let run: string;
  beforeAll(() => service.faults.set({ service: "qstash", mode: "hang" }));
  afterAll(() => service.faults.set({ service: "qstash", mode: "none" }));

  const start = async (fields: object = {}) => {
    run = await addRun(owner, agent, suite.tasks[0] ?? "", fields);
  };

  it("is followed to its end by one statement a look: each fact once, as it comes", async () => {
    // The agent may send telemetry: its run waits to be scored, so that each step is the test's to take.
    const traced = await addAgent(owner, { endpoint: endpoint.url });
    expect((await owner.call("POST", `/api/v1/agents/${traced}/otlp-token`)).status).toBe(200);
    run = await addRun(owner, traced, suite.tasks[0] ?? "");
    const nothing = () => Promise.resolve();
    const { sleep, pauses } = scripted([
      nothing,
      nothing,
      nothing,
      () => deliver(service, "dispatch", run),
      nothing,
      () => deliver(service, "score", run),
    ]);
    const execute = vi.spyOn(ctx.db, "execute");
    const told = eventsOf(await textOf(await open(run, sleep)));
    expect(execute).toHaveBeenCalledTimes(1 + pauses.length);
    execute.mockRestore();
    const { items } = (await anonymous.call("GET", `/api/v1/runs/${run}/phases`)).body;
    expect(told.slice(0, -1).map(({ data }) => data)).toEqual(items);
    expect(told.at(-1)).toEqual({ id: "final", event: "run", data: (await runOf(anonymous, run)).body });
    // Ever longer pauses while nothing happens; a short one after something did.
    expect(pauses).toEqual([1000, 1500, 2250, 3375, 1000, 1500]);
  });

  it("that is cancelled ends the stream with the cancelled run", async () => {
    await start();
    const { sleep } = scripted([() => owner.call("POST", `/api/v1/runs/${run}/cancel`)]);
    expect(eventsOf(await textOf(await open(run, sleep))).at(-1)).toMatchObject({ data: { status: "cancelled" } });
  });

  it("and of which nothing is heard: a look each 15 s, comments, by which a drop is noticed, and ten minutes in all", async () => {
    await start();
    const { sleep } = scripted([]);
    const looks: number[] = [];
    const original = ctx.db.execute.bind(ctx.db);
    const execute = vi.spyOn(ctx.db, "execute").mockImplementation((statement) => {
      looks.push(now - NOW);
      return original(statement);
    });
    const times: number[] = [];
    let text = "";
    for await (const piece of await open(run, sleep)) {
      times.push(now);
      text += Buffer.from(piece).toString();
    }
    expect(text).toMatch(/^retry: 1000\n\n(?::\n\n)+$/);
    const silences = times.map((time, index) => time - (times[index - 1] ?? NOW));
    execute.mockRestore();
    expect(Math.max(...silences)).toBeLessThanOrEqual(5000);
    expect(looks.slice(0, 6)).toEqual([0, 1000, 2500, 4750, 8125, 13_188]);
    expect(looks.slice(8).map((at, place) => at - (looks[place + 7] ?? 0))).toEqual(
      Array(looks.length - 8).fill(15_000),
    );
    expect(now - NOW).toBeGreaterThanOrEqual(600_000);
    expect(now - NOW).toBeLessThan(605_000);
  });

  it("whose agent is made private is followed by its owner alone from then on", async () => {
    await start();
    const hide = () => owner.call("PATCH", `/api/v1/agents/${agent}`, { is_public: false });
    const cancel = () => owner.call("POST", `/api/v1/runs/${run}/cancel`);
    try {
      const strangers = await open(run, scripted([hide, cancel]).sleep);
      expect(eventsOf(await textOf(strangers))).toEqual([]);
      const owners = await open(run, scripted([cancel]).sleep, 0, sessionOf(owner));
      expect(eventsOf(await textOf(owners)).at(-1)).toMatchObject({ event: "run", data: { scope: "personal" } });
      expect((await anonymous.call("GET", `/api/v1/runs/${run}/events`)).status).toBe(404);
    } finally {
      await owner.call("PATCH", `/api/v1/agents/${agent}`, { is_public: true });
    }
  });

  it("breaks the stream off when the database does, and says nothing of why", async () => {
    await start();
    const down = () => Promise.resolve(service.faults.set({ service: "db", mode: "error" }));
    const reader = (await open(run, scripted([down]).sleep)).getReader();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("retry: 1000\n\n");
    service.logs.length = 0;
    await expect(reader.read()).rejects.toThrow();
    expect(service.logs.join("\n")).toContain("stream broke off");
  });

  it.each([
    ["during a pause", true],
    ["during a look", false],
  ])("is let go when the connection drops %s", async (_when, pausing) => {
    await start();
    const wakes: (() => void)[] = [];
    const signals: AbortSignal[] = [];
    const sleep: Sleep = (ms, signal) => {
      signals.push(signal);
      if (signal.aborted) return Promise.resolve();
      return new Promise<void>((resolve) => {
        wakes.push(() => {
          now += ms;
          resolve();
        });
        signal.addEventListener("abort", () => resolve());
      });
    };
    const reader = (await open(run, sleep)).getReader();
    await reader.read();
    const next = reader.read();
    await vi.waitFor(() => expect(wakes).toHaveLength(1), 10_000);
    service.counters.reset();
    if (!pausing) {
      service.faults.set({ service: "db", mode: "hang", ms: 50, count: 1 });
      wakes[0]?.();
      await vi.waitFor(() => expect(dbRequests()).toBe(1), 10_000);
    }
    const cancelled = reader.cancel();
    expect(signals[0]?.aborted).toBe(true);
    await cancelled;
    expect(await next).toEqual({ done: true, value: undefined });
    await runOf(anonymous, run);
    expect(dbRequests()).toBe(pausing ? 1 : 2);
  });
});

describe("pause", () => {
  afterEach(() => vi.useRealTimers());

  it.each([
    ["that aborts meanwhile", false],
    ["that has aborted", true],
  ])("takes its timer down at a signal %s", async (_when, early) => {
    vi.useFakeTimers();
    const controller = new AbortController();
    if (early) controller.abort();
    const paused = pause(60_000, controller.signal);
    if (early) vi.advanceTimersByTime(0);
    else controller.abort();
    await paused;
    expect(vi.getTimerCount()).toBe(0);
  });
});
