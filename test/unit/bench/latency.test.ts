import { describe, expect, it } from "vitest";
import { latencyFigures, shareOfAllowed } from "../../bench/crowd.ts";

describe("the line that says whether waiting in the service counts against an agent", () => {
  const own = 20;
  const recorded = (...latencies: number[]) => latencies.map((latency) => shareOfAllowed(latency, own, 1));

  it("allows 10% + 5 ms of what the agent saw", () => {
    expect(shareOfAllowed(own + 2 + 5, own, 1)).toBe(1);
    expect(shareOfAllowed(1000 + 100 + 5, 1000, 1)).toBe(1);
  });

  it("is decided by the one run in a hundred that waited most, not by the median", () => {
    const waited = (late: number) => [
      ...recorded(...Array<number>(100 - late).fill(own)),
      ...recorded(...Array<number>(late).fill(324)),
    ];
    const [worst, middle] = latencyFigures("in a test", [waited(2), waited(2), waited(0)]);
    expect(worst).toMatchObject({ kind: "most", budget: 1, spread: { min: 0 } });
    expect(worst?.value).toBeGreaterThan(40);
    expect(middle?.value).toBe(0);
    expect(latencyFigures("in a test", [waited(1)])[0]?.value).toBe(0);
  });
});
