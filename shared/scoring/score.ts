import { interval, toScore } from "./interval.ts";
import { mean, meanOfKnown } from "./mean.ts";

/** How many runs of a task count: the newest ten at its current suite version. */
export const SCORED_RUNS = 10;

/** A counted run, as far as scoring looks at it. */
export interface ScoredRun {
  passed: boolean;
  /** 0 to 1; 0 where no gradable answer came. */
  correctness: number;
  /** A gradable answer came in time: the run's status is `completed`. */
  gradable: boolean;
  latency_ms: number | null;
  /** The cost of all its calls; null when not every one of them has a price. */
  cost_usd: number | null;
  tool_calls_made: number | null;
}

/** What a task's runs are measured against. */
export interface TaskReference {
  reference_cost_usd: number;
  reference_latency_ms: number;
  /** Null or 0 where the task expects no tool call. */
  expected_tool_calls: number | null;
}

/** An agent's record at one task. Everything but the counts is 0 to 1; null means no evidence. */
export interface Cell {
  /** Scored runs. */
  n: number;
  /** Of them, passed. */
  c: number;
  success: number;
  reliability: number;
  cost_efficiency: number;
  correctness: number;
  latency: number | null;
  cost: number | null;
  tool_efficiency: number | null;
  /** Share of the runs that gave a gradable answer in time. */
  robustness_share: number;
  robustness: number;
}

/** The five fitness axes, 0 to 1. */
export interface Axes {
  correctness: number | null;
  latency: number | null;
  cost: number | null;
  tool_efficiency: number | null;
  robustness: number | null;
}

/** An agent's scores over a set of tasks. Scores are 0 to 100 with two decimals, parts and axes 0 to 1. */
export interface Composite {
  composite_score: number;
  score_low: number;
  score_high: number;
  success_rate: number;
  reliability: number;
  cost_efficiency: number;
  axes: Axes;
  runs: number;
  tasks: number;
}

/**
 * Scores one agent at one task, from its counted runs, newest first; what follows the tenth is left out.
 *
 * The cost axis is cost efficiency over the priced runs alone: a priced run that did not pass still earns 0. Latency is
 * taken over the runs that have one, tool efficiency over those whose tool calls were counted. Robustness is this task's
 * share of gradable runs times this task's reliability.
 *
 * @throws RangeError without a run: a task that was never run has no cell.
 * @example
 * cell([{ passed: true, correctness: 1, gradable: true, latency_ms: 4000, cost_usd: 0.004, tool_calls_made: null }],
 *   { reference_cost_usd: 0.002, reference_latency_ms: 2000, expected_tool_calls: null })
 * // { n: 1, c: 1, success: 1, reliability: 0.4, cost_efficiency: 0.5, latency: 0.5, … }
 */
export function cell(runs: readonly ScoredRun[], reference: TaskReference): Cell {
  const scored = runs.slice(0, SCORED_RUNS);
  const n = scored.length;
  if (n === 0) throw new RangeError("a cell needs at least one run");
  const c = scored.filter(({ passed }) => passed).length;
  const efficiencies = scored.map(({ passed, cost_usd }) => {
    const efficiency = ratio(reference.reference_cost_usd, cost_usd);
    return passed || efficiency === null ? efficiency : 0;
  });
  const expected = reference.expected_tool_calls ?? 0;
  const share = scored.filter(({ gradable }) => gradable).length / n;
  const repeatable = reliability(n, c);
  return {
    n,
    c,
    success: c / n,
    reliability: repeatable,
    cost_efficiency: mean(efficiencies.map((efficiency) => efficiency ?? 0)),
    correctness: mean(scored.map(({ correctness }) => correctness)),
    latency: meanOfKnown(scored.map(({ latency_ms }) => ratio(reference.reference_latency_ms, latency_ms))),
    cost: meanOfKnown(efficiencies),
    tool_efficiency: expected > 0 ? meanOfKnown(scored.map((run) => ratio(expected, run.tool_calls_made))) : null,
    robustness_share: share,
    robustness: share * repeatable,
  };
}

/**
 * The expected chance of three passes in a row when c of n runs passed: the mean of p³ under the posterior
 * Beta(c + 1, n - c + 1) of a uniform prior. Repeats are what earns it: 1 of 1 gives 0.4, 10 of 10 gives 0.79.
 * @example
 * reliability(1, 1) // 0.4
 * reliability(10, 10) // 0.7857…
 */
export function reliability(n: number, c: number): number {
  return ((c + 1) / (n + 2)) * ((c + 2) / (n + 3)) * ((c + 3) / (n + 4));
}

/**
 * An agent's scores over tasks: each part and axis is the mean over the tasks that have it, and the composite is
 * 100 × (0.4 success + 0.3 reliability + 0.3 cost efficiency). The 95% interval is clustered by task: its sample is each
 * task's own score, since runs of one task are not independent. Without a task all is 0 in [0, 100], the axes null.
 * @example
 * composite([cell(runsOfOneTask, one), cell(runsOfAnother, another)])
 * // { composite_score: 42.5, score_low: 2.34, score_high: 91.74, success_rate: 0.5, … }
 */
export function composite(cells: readonly Cell[]): Composite {
  const scores = cells.map((task) => 0.4 * task.success + 0.3 * task.reliability + 0.3 * task.cost_efficiency);
  const composite_score = toScore(mean(scores));
  const { low, high } = interval({
    mean: composite_score / 100,
    variance: sampleVariance(scores),
    tasks: cells.length,
    lowest: Math.min(...scores),
    highest: Math.max(...scores),
  });
  return {
    composite_score,
    score_low: low,
    score_high: high,
    success_rate: mean(cells.map(({ success }) => success)),
    reliability: mean(cells.map((task) => task.reliability)),
    cost_efficiency: mean(cells.map(({ cost_efficiency }) => cost_efficiency)),
    axes: {
      correctness: meanOfKnown(cells.map(({ correctness }) => correctness)),
      latency: meanOfKnown(cells.map(({ latency }) => latency)),
      cost: meanOfKnown(cells.map(({ cost }) => cost)),
      tool_efficiency: meanOfKnown(cells.map(({ tool_efficiency }) => tool_efficiency)),
      robustness: meanOfKnown(cells.map(({ robustness }) => robustness)),
    },
    runs: cells.reduce((sum, { n }) => sum + n, 0),
    tasks: cells.length,
  };
}

/** reference / max(reference, value): 1 up to the reference, then falling towards 0. Also where both are 0. */
function ratio(reference: number, value: number | null): number | null {
  if (value === null) return null;
  return value <= reference ? 1 : reference / value;
}

/**
 * The sample variance, divisor n - 1; 0 for fewer than two values.
 * @example
 * sampleVariance([1, 2, 3]) // 1
 */
export function sampleVariance(values: readonly number[]): number {
  const center = mean(values);
  return values.reduce((sum, value) => sum + (value - center) ** 2, 0) / Math.max(values.length - 1, 1);
}
