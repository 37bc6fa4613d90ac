import { EventEmitter, once } from "node:events";
import { describe, expect, test } from "vitest";
import { startCallback } from "../../agents/callback.ts";
import { type Fault, faultOf, startFlaky } from "../../agents/flaky.ts";
import { json } from "../../stack/http.ts";
import { call, requestFor, startService } from "./service.ts";

const NONE = { wrong: 0, error: 0, limited: 0, slow: 0 };

async function startFaulty(service: string, fault: Fault, slowMs?: number) {
  const agent = await startFlaky({
    service,
    shares: { ...NONE, [fault]: 1 },
    ...(slowMs === undefined ? {} : { slowMs }),
  });
  return { ...agent, [Symbol.asyncDispose]: () => agent.close() };
}

describe("the flaky agent", () => {
  test("lets each fault befall its share of the runs", () => {
    const shares = { wrong: 0.3, error: 0.2, limited: 0.1, slow: 0.05 };
    const drawn = Array.from({ length: 20_000 }, (_, at) => faultOf(`run-${at}`, shares));
    for (const fault of ["wrong", "error", "limited", "slow"] as const) {
      expect(drawn.filter((one) => one === fault).length / drawn.length).toBeCloseTo(shares[fault], 1);
    }
  });

  test("meets the same faults in the same runs, however often it is started", async () => {
    await using service = await startService();
    const shares = { wrong: 0.4, error: 0.3, limited: 0.2, slow: 0 };
    const statuses = async () => {
      const agent = await startFlaky({ service: service.url, shares });
      const ids = Array.from({ length: 40 }, (_, at) => `run-${at}`);
      const responses = await Promise.all(ids.map((id) => call(agent.url, requestFor(id, service.url))));
      await agent.close();
      return responses.map(({ status }) => status);
    };
    const first = await statuses();
    expect(new Set(first)).toEqual(new Set([200, 429, 500]));
    expect(await statuses()).toEqual(first);
  });

  test("gives wrong answers in the right form", async () => {
    await using service = await startService();
    await using agent = await startFaulty(service.url, "wrong");
    const response = await call(agent.url, requestFor("r1", service.url));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ output: "I do not know.", usage: { calls: [{}] } });
  });

  test("fails with 500 each time that the same run is called", async () => {
    await using service = await startService();
    await using agent = await startFaulty(service.url, "error");
    const statuses = [
      await call(agent.url, requestFor("r1", service.url)),
      await call(agent.url, requestFor("r1", service.url)),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([500, 500]);
  });

  test("turns a run away once and then answers it", async () => {
    await using service = await startService();
    await using agent = await startFaulty(service.url, "limited");
    const first = await call(agent.url, requestFor("r1", service.url));
    expect([first.status, first.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await (await call(agent.url, requestFor("r1", service.url))).json()).toMatchObject({ output: "35.0" });
    expect((await call(agent.url, requestFor("r2", service.url))).status).toBe(429);
  });

  test("is late with an answer, and gives it up when the caller is gone", async () => {
    await using service = await startService();
    await using late = await startFaulty(service.url, "slow", 20);
    expect((await call(late.url, requestFor("r1", service.url))).status).toBe(200);
    await using later = await startFaulty(service.url, "slow", 3_600_000);
    const given = fetch(later.url, {
      method: "POST",
      body: JSON.stringify(requestFor("r1", service.url)),
      signal: AbortSignal.timeout(50),
    });
    await expect(given).rejects.toThrow(/timeout/iu);
  });

  test.each([[{ wrong: -0.1 }], [{ wrong: 0.6, error: 0.6 }], [{ slow: Number.NaN }]])(
    "does not start with shares %j",
    async (shares) => {
      await expect(startFlaky({ service: "http://127.0.0.1:1", shares })).rejects.toThrow(RangeError);
    },
  );
});

describe("the callback agent", () => {
  /** An agent, and the lines it logs about runs that are done with. */
  async function start(service: string, now?: () => Date) {
    const lines = new EventEmitter();
    const log = (line: string) => void (/report|drop/u.test(line) && lines.emit("line", line));
    const agent = await startCallback({ service, delayMs: 0, log, ...(now === undefined ? {} : { now }) });
    return { ...agent, reported: () => once(lines, "line"), [Symbol.asyncDispose]: () => agent.close() };
  }

  test("answers 202 and reports with the run's token", async () => {
    await using service = await startService();
    await using agent = await start(service.url);
    const reported = agent.reported();
    expect((await call(agent.url, requestFor("r1", service.url))).status).toBe(202);
    expect(await reported).toEqual(["r1: reported, 200"]);
    const [report, ...more] = service.reports;
    expect(more).toEqual([]);
    expect([report?.method, report?.url.pathname, report?.headers.authorization]).toEqual([
      "PATCH",
      "/api/v1/runs/r1",
      "Bearer run_r1",
    ]);
    expect(JSON.parse(report?.body.toString() ?? "")).toMatchObject({ status: "completed", output: "35.0", usage: {} });
  });

  test("reports again where the service was not able to take it, and not where it refused", async () => {
    await using service = await startService((reports) => json(reports === 1 ? 503 : 401, {}));
    await using agent = await start(service.url);
    const reported = agent.reported();
    await call(agent.url, requestFor("r1", service.url));
    expect(await reported).toEqual(["r1: reported, 401"]);
    expect(service.reports).toHaveLength(2);
  });

  test("does not report after the deadline", async () => {
    await using service = await startService();
    await using agent = await start(service.url, () => new Date(Date.now() + 3_600_000));
    const reported = agent.reported();
    await call(agent.url, requestFor("r1", service.url));
    expect(await reported).toEqual(["r1: could not be reported in time"]);
    expect(service.reports).toEqual([]);
  });

  test("calls nobody but the service", async () => {
    await using service = await startService();
    await using stranger = await startService();
    await using agent = await start(service.url);
    expect((await call(agent.url, requestFor("r1", stranger.url))).status).toBe(400);
    expect(stranger.reports).toEqual([]);
  });
});
