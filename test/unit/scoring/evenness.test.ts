import { describe, expect, it } from "vitest";
import { evenness } from "../../../shared/scoring/evenness.ts";

const times = (count: number, runs: number) => Array.from({ length: count }, () => runs);

describe("whether tasks were asked evenly", () => {
  it.each([
    ["each once", times(40, 1), 40, false],
    ["whole rounds, however many", times(40, 250), 10_000, false],
    ["four of forty once more", [...times(36, 3), ...times(4, 4)], 124, false],
    ["five of forty once more", [...times(35, 3), ...times(5, 4)], 125, true],
    ["one of forty five times more", [...times(39, 3), 8], 125, true],
    ["one of forty once less, since a run of ours failed", [...times(39, 1), 0], 39, false],
    ["one of a domain's four once more", [1, 1, 1, 2], 5, false],
    ["one of a domain's four twice more", [1, 1, 1, 3], 6, true],
    ["half of them again", [...times(20, 1), ...times(20, 2)], 60, true],
    ["a single task, however often", [17], 17, false],
  ])("says of %s that it is so", (_what, asked, asked_runs, uneven) => {
    expect(evenness(asked)).toEqual({ asked_runs, uneven });
  });

  it("goes by what can be scored by now, and tells all that was asked", () => {
    expect(evenness([6, 6, 6, 6], [6, 1, 1, 1])).toEqual({ asked_runs: 24, uneven: true });
    expect(evenness([3, 2, 1, 1], [1, 1, 1, 1])).toEqual({ asked_runs: 7, uneven: false });
  });
});
