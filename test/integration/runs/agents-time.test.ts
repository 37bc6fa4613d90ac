import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Consumer } from "../../stack/broker/harness.ts";
import { caller, newUser, type User } from "../../stack/client.ts";
import { json } from "../../stack/http.ts";
import { startService, type TestService } from "../../stack/service.ts";
import { addAgent, addRun, addSuite, answersRightly, callbackIn, KEY, startAgent } from "./support.ts";

const HOST = "slow.example.com";
const LIMIT_MS = 2000;
/** Nearly all of its time: what is taken off that fails it. */
const ANSWERS_AFTER_MS = 1500;
const OURS_MS = 5000;

let service: TestService;
let owner: User;
let endpoint: Consumer;
let task: string;
let clock = Date.now();
/** What passes while the name is being looked up. */
let lookupMs = 0;

beforeAll(async () => {
  endpoint = await startAgent();
  service = await startService({
    overrides: {
      now: () => new Date(clock),
      fetch(input, init) {
        const url = new URL(input instanceof Request ? input.url : input);
        if (url.searchParams.get("type") === "A") clock += lookupMs;
        return fetch(url.hostname === HOST ? endpoint.url : input, init);
      },
    },
  });
  service.dns.setZone({ [HOST]: { A: ["93.184.216.34"], AAAA: [] } });
  owner = await newUser(service, { plan: "pro" });
  const suite = await addSuite(service, 1);
  task = suite.tasks[0] ?? "";
  await service.sql("update tasks set time_limit_ms = $1 where id = $2", [LIMIT_MS, task]);
});

afterEach(() => {
  lookupMs = 0;
});

afterAll(async () => {
  await service.stop();
  await endpoint.stop();
});

const read = async (run: string) => (await owner.call("GET", `/api/v1/runs/${run}`)).body;

/** Carries a run out whose agent's name takes us longer to look up than the whole task may. */
async function runWhileWeAreSlow(): Promise<string> {
  const agent = await addAgent(owner, { endpoint: `https://${HOST}/` });
  lookupMs = OURS_MS;
  const run = await addRun(owner, agent, task);
  await service.settled();
  return run;
}

/** The same, whose agent has promised to report, and the header that it reports with. */
async function promised(): Promise<{ run: string; authorization: string }> {
  let token = "";
  endpoint.answer = ({ body }) => {
    ({ token } = callbackIn(body));
    return { status: 202 };
  };
  const run = await runWhileWeAreSlow();
  return { run, authorization: `Bearer ${token}` };
}

describe("an agent's time", () => {
  it("begins when the request leaves, whatever our own work before took", async () => {
    endpoint.answer = (request) => {
      const { deadline } = JSON.parse(request.body.toString()) as { deadline: string };
      expect(Date.parse(deadline) - clock, "what it is told").toBe(LIMIT_MS);
      clock += ANSWERS_AFTER_MS;
      return answersRightly(request);
    };
    const run = await runWhileWeAreSlow();
    expect(await read(run)).toMatchObject({ status: "completed", passed: true, latency_ms: ANSWERS_AFTER_MS });
  });

  it("goes on while it is busy and has us come back later", async () => {
    endpoint.seen.length = 0;
    endpoint.answer = (request) => {
      if (endpoint.seen.length > 1) return answersRightly(request);
      clock += ANSWERS_AFTER_MS;
      return { status: 503, headers: { "retry-after": "0" } };
    };
    const run = await runWhileWeAreSlow();
    expect(await read(run)).toMatchObject({ status: "completed", passed: true, latency_ms: ANSWERS_AFTER_MS });
    expect(endpoint.seen).toHaveLength(2);
  });

  it("is none at least, and ends no sooner than it began, where a clock that is behind tells its end", async () => {
    endpoint.answer = (request) => {
      clock -= OURS_MS;
      return answersRightly(request);
    };
    const run = await runWhileWeAreSlow();
    const { latency_ms, started_at, finalized_at } = await read(run);
    expect(latency_ms).toBe(0);
    expect(Date.parse(finalized_at)).toBeGreaterThanOrEqual(Date.parse(started_at));
    const { body } = await owner.call("GET", `/api/v1/runs/${run}/phases`);
    const took = body.items.map(({ duration_ms }: { duration_ms: number | null }) => duration_ms);
    expect(took.filter((ms: number | null) => ms !== null)).toEqual([0, 0]);
  });

  it("is the same for a report, which is timed from then as well", async () => {
    const { run, authorization } = await promised();
    clock += ANSWERS_AFTER_MS;
    const report = { status: "completed", output: KEY, usage: { calls: [{ model: "m", cost_usd: 0.002 }] } };
    const answer = await caller(service).call("PATCH", `/api/v1/runs/${run}`, report, { authorization });
    expect(answer.status).toBe(200);
    await service.settled();
    expect(await read(run)).toMatchObject({ status: "completed", passed: true, latency_ms: ANSWERS_AFTER_MS });
  });

  it("ends when the report comes, whatever admitting it takes", async () => {
    const { run, authorization } = await promised();
    clock += ANSWERS_AFTER_MS;
    const onwards = globalThis.fetch;
    const counting = vi.spyOn(globalThis, "fetch").mockImplementation((input, init) => {
      if (JSON.stringify(init?.body ?? null).includes("limit:write")) clock += OURS_MS;
      return onwards(input, init);
    });
    const came = clock;
    const report = { status: "completed", output: KEY };
    const { status } = await caller(service).call("PATCH", `/api/v1/runs/${run}`, report, { authorization });
    counting.mockRestore();
    expect([status, clock - came]).toEqual([200, OURS_MS]);
    await service.settled();
    expect(await read(run)).toMatchObject({ status: "completed", passed: true, latency_ms: ANSWERS_AFTER_MS });
  });

  it("goes on while a report's body is yet to come, however early the rest of the request came", async () => {
    const { run, authorization } = await promised();
    const text = Buffer.from(JSON.stringify({ status: "completed", output: KEY }));
    // It is asked for once whoever reports has been admitted.
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          clock += ANSWERS_AFTER_MS;
          controller.enqueue(text);
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { authorization, "content-type": "application/json" };
    const url = `${service.url}/api/v1/runs/${run}`;
    const deferred: Promise<unknown>[] = [];
    const execution = {
      waitUntil: (work: Promise<unknown>) => void deferred.push(work),
      passThroughOnException: () => undefined,
      props: {},
    };
    const request = new Request(url, { method: "PATCH", headers, body, duplex: "half" });
    const { status } = await service.app.fetch(request, {}, execution);
    await Promise.all(deferred);
    expect(status).toBe(200);
    await service.settled();
    expect(await read(run)).toMatchObject({ status: "completed", latency_ms: ANSWERS_AFTER_MS });
  });

  it("is over for a report when the limit has passed since then", async () => {
    const { run, authorization } = await promised();
    clock += LIMIT_MS + 1;
    const late = await caller(service).call(
      "PATCH",
      `/api/v1/runs/${run}`,
      { status: "completed", output: KEY },
      {
        authorization,
      },
    );
    expect(late.status).toBe(401);
  });

  it("counts from then for a report that comes before the call has ended", async () => {
    endpoint.answer = async ({ body }) => {
      const { runId, token } = callbackIn(body);
      clock += ANSWERS_AFTER_MS;
      const report = { status: "completed", output: KEY };
      const authorization = `Bearer ${token}`;
      const { status } = await caller(service).call("PATCH", `/api/v1/runs/${runId}`, report, { authorization });
      return json(status === 200 ? 202 : 500, {});
    };
    const run = await runWhileWeAreSlow();
    expect(await read(run)).toMatchObject({ status: "completed", passed: true, latency_ms: ANSWERS_AFTER_MS });
  });
});
