import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { costInWords, counted, joined, theFirst } from "../../../functions/site/parts/in-words.ts";
import { costOf } from "../../../functions/site/run.tsx";

describe("numbers in words", () => {
  test("are one thing, or several", () => {
    expect([0, 1, 2].map((count) => counted(count, "run"))).toEqual(["0 runs", "1 run", "2 runs"]);
    expect([1, 2].map((count) => counted(count, "entry", "entries"))).toEqual(["1 entry", "2 entries"]);
    expect([1, 3].map((count) => theFirst(count, "agent"))).toEqual(["the first agent", "the first 3 agents"]);
  });

  test("stand in lists", () => {
    expect([[], ["A"], ["A", "B"], ["A", "B", "C"]].map((parts) => joined(parts))).toEqual([
      "",
      "A",
      "A and B",
      "A, B and C",
    ]);
    expect(joined(["A", "B"], "or")).toBe("A or B");
  });

  test.each([
    [0, "runner_aggregate", "0.010000 USD, a total, as the agent says"],
    [1, "self_reported", "0.010000 USD for 1 call, as the agent says"],
    [2, "self_reported", "0.010000 USD for 2 calls, as the agent says"],
  ] as const)("of what a run cost: %i calls, %s", (calls, source, words) => {
    const cost = {
      evidence_cost_usd: 0.01,
      evidence_cost_source: source,
      evidence_cost_partial: false,
      evidence_cost_floor_applied: false,
      evidence_total_call_count: calls,
      simulated: false,
    };
    expect(costOf(cost)).toBe(words);
    // What no agent said is not told as its word.
    expect(costOf({ ...cost, simulated: true })).toBe(words.replace(/(?:a total, )?as the agent says/, "simulated"));
  });
});

test("what calls cost is written in one way, by one function", async () => {
  const [here, all] = [
    `${import.meta.dirname}/../../../functions/site`,
    { recursive: true, encoding: "utf8" },
  ] as const;
  const written: string[] = [];
  for (const name of (await readdir(here, all)).filter((one) => one.endsWith(".tsx"))) {
    const text = await readFile(`${here}/${name}`, "utf8");
    if (/\.toFixed\(6\)|\$\$\{|<[a-z]+[^>]*>\$/.test(text)) written.push(name);
  }
  expect(written).toEqual([]);
  expect(costInWords(0.0000494)).toBe("0.000049 USD");
});
