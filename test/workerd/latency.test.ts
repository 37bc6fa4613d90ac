import { describe, expect, inject, it } from "vitest";
import { createTurns, type Turns } from "../../shared/platform/turns.ts";
import { exchange } from "../../shared/platform/outbound/exchange.ts";
import { CALLS } from "../../functions/service.ts";

const RUNS = 160;
/** What an isolate does for a run beside the call: CPU that another run's answer has to wait for. */
const WORK_MS = 1;

/** Keeps the isolate busy. */
function work(): void {
  const until = performance.now() + WORK_MS;
  while (performance.now() < until);
}

/** One run: work, the call of an agent that answers after 20 ms, work. Resolves to by how much its latency is too long. */
async function run(turns: Turns): Promise<number> {
  const place = await turns.take();
  try {
    work();
    const result = await exchange(
      {
        url: `${inject("hostileUrl")}/timed`,
        method: "POST",
        headers: {},
        body: "{}",
        deadlineMs: 60_000,
        maxResponseBytes: 1024,
      },
      {
        fetch: (input, init) => fetch(input, init),
        resolver: { query: () => Promise.reject(new Error("loopback is not looked up")) },
        policy: { ownHosts: [], allowLoopbackHttp: true },
        now: () => new Date(),
      },
    );
    work();
    if (!result.ok) throw new Error(result.detail);
    const own = Number(new TextDecoder().decode(result.body));
    return result.latency_ms - 1.1 * own;
  } finally {
    place.leave();
  }
}

/** The median of how much the latencies of many runs at once are too long. */
async function median(turns: Turns): Promise<number> {
  const late = await Promise.all(Array.from({ length: RUNS }, () => run(turns)));
  return late.toSorted((a, b) => a - b)[RUNS / 2] ?? Number.NaN;
}

describe("a Worker with many runs at once", () => {
  // A loaded machine delays every answer, so that the budget itself is the bench's to keep.
  it("lets its own queue lengthen what it records less than a quarter of as much as without a bound", async () => {
    const unbounded = await median(createTurns({ places: RUNS, holdMs: 60_000 }));
    const bounded = await median(createTurns(CALLS));
    expect(bounded).toBeLessThan(unbounded / 4);
  });
});
