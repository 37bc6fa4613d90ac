import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { interval } from "../../../shared/scoring/interval.ts";
import {
  type Cell,
  cell,
  composite,
  reliability,
  type ScoredRun,
  type TaskReference,
} from "../../../shared/scoring/score.ts";

const reference: TaskReference = { reference_cost_usd: 0.01, reference_latency_ms: 2000, expected_tool_calls: 2 };

const passing: ScoredRun = {
  passed: true,
  correctness: 1,
  gradable: true,
  latency_ms: 2000,
  cost_usd: 0.01,
  tool_calls_made: 2,
};
const wrong: ScoredRun = { ...passing, passed: false, correctness: 0 };
const broken: ScoredRun = {
  passed: false,
  correctness: 0,
  gradable: false,
  latency_ms: null,
  cost_usd: null,
  tool_calls_made: null,
};

const share = fc.double({ min: 0, max: 1, noNaN: true });
const run: fc.Arbitrary<ScoredRun> = fc.record({
  passed: fc.boolean(),
  correctness: share,
  gradable: fc.boolean(),
  latency_ms: fc.option(fc.nat(120_000)),
  cost_usd: fc.option(fc.double({ min: 0, max: 10, noNaN: true })),
  tool_calls_made: fc.option(fc.nat(50)),
});
const references: fc.Arbitrary<TaskReference> = fc.record({
  reference_cost_usd: share,
  reference_latency_ms: fc.nat(60_000),
  expected_tool_calls: fc.option(fc.nat(10)),
});
const record = fc.record({ runs: fc.array(run, { minLength: 1, maxLength: 10 }), reference: references });
const records = fc.array(record, { maxLength: 12 });

const score = (all: { runs: ScoredRun[]; reference: TaskReference }[]) =>
  composite(all.map(({ runs, reference: of }) => cell(runs, of)));

describe("cell", () => {
  const cases: [what: string, runs: ScoredRun[], of: Partial<TaskReference>, expected: Partial<Cell>][] = [
    ["one pass at the reference", [passing], {}, { n: 1, c: 1, success: 1, cost_efficiency: 1, latency: 1, cost: 1 }],
    ["a pass that cost twice the reference", [{ ...passing, cost_usd: 0.02 }], {}, { cost_efficiency: 0.5, cost: 0.5 }],
    ["a pass that cost half the reference", [{ ...passing, cost_usd: 0.005 }], {}, { cost_efficiency: 1, cost: 1 }],
    [
      "a free pass at a task that should cost nothing",
      [{ ...passing, cost_usd: 0 }],
      { reference_cost_usd: 0 },
      { cost: 1 },
    ],
    [
      "a pass without a price earns nothing and tells nothing of cost",
      [{ ...passing, cost_usd: null }],
      {},
      { cost_efficiency: 0, cost: null },
    ],
    [
      "the cost axis leaves unpriced runs out",
      [passing, { ...passing, cost_usd: null }],
      {},
      { cost_efficiency: 0.5, cost: 1 },
    ],
    ["a priced failure earns 0 on the cost axis too", [passing, wrong], {}, { cost_efficiency: 0.5, cost: 0.5 }],
    ["a run four times as slow as the reference", [{ ...passing, latency_ms: 8000 }], {}, { latency: 0.25 }],
    ["an instant answer", [{ ...passing, latency_ms: 0 }], { reference_latency_ms: 0 }, { latency: 1 }],
    ["latency over the runs that have one", [{ ...passing, latency_ms: 4000 }, broken], {}, { latency: 0.5 }],
    ["twice the tool calls expected", [{ ...passing, tool_calls_made: 4 }], {}, { tool_efficiency: 0.5 }],
    ["fewer tool calls than expected", [{ ...passing, tool_calls_made: 0 }], {}, { tool_efficiency: 1 }],
    ["tool calls where none are expected", [passing], { expected_tool_calls: 0 }, { tool_efficiency: null }],
    ["tool calls where the task says nothing", [passing], { expected_tool_calls: null }, { tool_efficiency: null }],
    [
      "tool calls of runs that made an answer",
      [{ ...passing, tool_calls_made: 8 }, broken],
      {},
      { tool_efficiency: 0.25 },
    ],
    ["partial credit", [{ ...wrong, correctness: 0.5 }, passing], {}, { correctness: 0.75, success: 0.5 }],
    ["a share of gradable runs", [passing, broken], {}, { robustness_share: 0.5, robustness: 0.5 * reliability(2, 1) }],
    [
      "nothing but broken runs",
      [broken],
      {},
      { success: 0, latency: null, cost: null, tool_efficiency: null, robustness: 0 },
    ],
  ];

  it.each(cases)("%s", (_, runs, of, expected) => {
    expect(cell(runs, { ...reference, ...of })).toMatchObject(expected);
  });

  it("counts the ten newest runs", () => {
    const newest = Array.from({ length: 10 }, () => passing);
    expect(cell([...newest, wrong, broken], reference)).toEqual(cell(newest, reference));
  });

  it("does not exist for a task that was never run", () => {
    expect(() => cell([], reference)).toThrow(RangeError);
  });

  it("keeps every share within 0 and 1", () => {
    fc.assert(
      fc.property(record, ({ runs, reference: of }) => {
        const { n, c, ...shares } = cell(runs, of);
        expect(c).toBeLessThanOrEqual(n);
        for (const value of Object.values(shares)) {
          if (value === null) continue;
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});

describe("reliability", () => {
  it("is the mean of p³ under Beta(c + 1, n - c + 1), by numeric integration", () => {
    for (let n = 0; n <= 10; n++) {
      for (let c = 0; c <= n; c++) {
        const posterior = (p: number) => p ** c * (1 - p) ** (n - c);
        const expected = integrate((p) => p ** 3 * posterior(p)) / integrate(posterior);
        expect(reliability(n, c)).toBeCloseTo(expected, 9);
      }
    }
  });

  it("rises with every pass, and with every repeat of a perfect record", () => {
    for (let n = 1; n <= 10; n++) {
      for (let c = 1; c <= n; c++) expect(reliability(n, c)).toBeGreaterThan(reliability(n, c - 1));
      expect(reliability(n, n)).toBeGreaterThan(reliability(n - 1, n - 1));
    }
  });
});

describe("composite", () => {
  it("is nothing in an open interval without a task", () => {
    expect(composite([])).toEqual({
      composite_score: 0,
      score_low: 0,
      score_high: 100,
      success_rate: 0,
      reliability: 0,
      cost_efficiency: 0,
      axes: { correctness: null, latency: null, cost: null, tool_efficiency: null, robustness: null },
      runs: 0,
      tasks: 0,
    });
  });

  it("weighs 40% success, 30% reliability and 30% cost efficiency", () => {
    // 1 of 1 at the reference cost: 0.4 · 1 + 0.3 · 0.4 + 0.3 · 1.
    expect(composite([cell([passing], reference)])).toMatchObject({
      composite_score: 82,
      score_low: 0,
      score_high: 100,
    });
  });

  it("averages over tasks, however often each was run, and clusters its interval by task", () => {
    const often = cell(
      Array.from({ length: 10 }, () => passing),
      reference,
    );
    const once = cell([wrong], reference);
    // 93.571 and 0.3 · (1/3 · 2/4 · 3/5) = 3: mean 48.29; the interval of two tasks reaches over nearly all.
    const two = composite([often, once]);
    expect(two.score_low).toBeLessThan(5);
    expect(two.score_high).toBeGreaterThan(93);
    expect(two).toMatchObject({
      composite_score: 48.29,
      success_rate: 0.5,
      runs: 11,
      tasks: 2,
    });
  });

  it("has the interval about the score as it is shown, two decimals, so that a reader of a row computes the same", () => {
    const cells = [passing, wrong, { ...passing, cost_usd: 0.026 }].map((one) => cell([one], reference));
    const own = [0.82, 0.03, 0.4 + 0.3 * 0.4 + 0.3 * (0.01 / 0.026)];
    const mean = own.reduce((sum, value) => sum + value, 0) / 3;
    const variance = own.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 2;
    const sample = { variance, tasks: 3, lowest: 0.03, highest: 0.82 };
    const shown = interval({ ...sample, mean: 0.4951 });
    expect(composite(cells)).toMatchObject({ composite_score: 49.51, score_low: shown.low, score_high: shown.high });
    expect(interval({ ...sample, mean }).low).not.toBe(shown.low);
  });

  it("has the interval of its tasks' own scores", () => {
    const solved = cell([passing], reference);
    const slightlyWorse = cell([{ ...passing, cost_usd: 0.0125 }], reference);
    // Scores 82, 82, 82 and 76: mean 80.5, variance 9.
    const { low, high } = interval({ mean: 0.805, variance: 0.0009, tasks: 4, lowest: 0.76, highest: 0.82 });
    expect(composite([solved, solved, solved, slightlyWorse])).toMatchObject({
      composite_score: 80.5,
      score_low: low,
      score_high: high,
    });
  });

  it("is not certain of tasks that all score alike", () => {
    const solved = cell([passing], reference);
    const { score_low, score_high } = composite(Array.from({ length: 10 }, () => solved));
    expect(score_low).toBeLessThan(75);
    expect(score_high).toBeGreaterThan(82);
  });

  it("takes each axis over the tasks that have evidence for it", () => {
    const axes = composite([
      cell([{ ...passing, latency_ms: 4000 }], reference),
      cell([{ ...passing, latency_ms: null, cost_usd: null }], { ...reference, expected_tool_calls: null }),
    ]).axes;
    expect(axes).toEqual({ correctness: 1, latency: 0.5, cost: 1, tool_efficiency: 1, robustness: 0.4 });
  });

  it("stays within its bounds, its interval around it", () => {
    fc.assert(
      fc.property(records, (all) => {
        const { composite_score, score_low, score_high, tasks } = score(all);
        expect(score_low).toBeGreaterThanOrEqual(0);
        expect(score_low).toBeLessThanOrEqual(composite_score);
        expect(composite_score).toBeLessThanOrEqual(score_high);
        expect(score_high).toBeLessThanOrEqual(100);
        expect(composite_score).toBe(Math.round(composite_score * 100) / 100);
        expect(tasks).toBe(all.length);
      }),
    );
  });

  it("is 100 × the weighted parts that stand beside it", () => {
    fc.assert(
      fc.property(records, (all) => {
        const { composite_score, success_rate, reliability: reliable, cost_efficiency } = score(all);
        const exact = 100 * (0.4 * success_rate + 0.3 * reliable + 0.3 * cost_efficiency);
        expect(Math.abs(composite_score - exact)).toBeLessThanOrEqual(0.005 + 1e-6);
      }),
    );
  });

  it("is never lowered by a further pass", () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 6 }), fc.nat(), fc.nat(), (all, whichTask, whichRun) => {
        const better = all.map((one, index) =>
          index === whichTask % all.length ? { ...one, runs: pass(one.runs, whichRun) } : one,
        );
        expect(score(better).composite_score).toBeGreaterThanOrEqual(score(all).composite_score);
      }),
    );
  });

  it("does not depend on the order of tasks or of the runs that count", () => {
    const shuffled = records.chain((all) =>
      fc
        .tuple(...all.map(({ runs }) => fc.shuffledSubarray(runs, { minLength: runs.length })))
        .map((orders) => all.map((one, index) => ({ ...one, runs: orders[index] ?? [] })))
        .chain((reordered) => fc.shuffledSubarray(reordered, { minLength: reordered.length }))
        .map((reordered) => ({ all, reordered })),
    );
    fc.assert(
      fc.property(shuffled, ({ all, reordered }) => {
        const { axes, composite_score, score_low, score_high } = score(all);
        const other = score(reordered);
        expect(other).toMatchObject({ composite_score, score_low, score_high });
        for (const [name, value] of Object.entries(other.axes)) {
          const before = new Map<string, number | null>(Object.entries(axes)).get(name);
          expect(value ?? -1).toBeCloseTo(before ?? -1, 9);
        }
      }),
    );
  });
});

function pass(runs: ScoredRun[], which: number): ScoredRun[] {
  return runs.map((one, index) => (index === which % runs.length ? { ...one, passed: true, gradable: true } : one));
}

/** Simpson's rule over [0, 1]: exact enough for the polynomials here. */
function integrate(f: (p: number) => number): number {
  const steps = 1000;
  let sum = f(0) + f(1);
  for (let step = 1; step < steps; step++) sum += f(step / steps) * (step % 2 === 1 ? 4 : 2);
  return sum / (3 * steps);
}
