import { studentT975 } from "./student-t.ts";
import { mean } from "./mean.ts";
import { sampleVariance } from "./score.ts";

/** Where the spread of pass rates comes from: chance between runs of one task, and the tasks themselves. Variances. */
export interface Spread {
  within: number;
  between: number;
}

/** Nothing known: every run a toss of a coin, all tasks alike. */
export const COIN_TOSS: Spread = { within: 0.25, between: 0 };

/** Beyond this a number of repeats is no advice. */
const MOST_REPEATS = 1000;

/**
 * Parts the variance of the tasks' pass rates, by the method of moments. `within` is the mean over tasks of the expected
 * p (1 - p) under the posterior Beta(c + 1, n - c + 1) of a uniform prior, so that one run tells something too; `between`
 * is what remains of the sample variance of c / n after the mean of within / n, at least 0.
 *
 * @param tasks of `n` ≥ 1 runs each `c` passed
 * @example
 * spreadOf([{ n: 5, c: 5 }, { n: 5, c: 0 }, { n: 5, c: 3 }]) // { within: 0.1428…, between: 0.2247… }
 */
export function spreadOf(tasks: readonly { n: number; c: number }[]): Spread {
  const chance = tasks.map(({ n, c }) => ((c + 1) * (n - c + 1)) / ((n + 2) * (n + 3)));
  const ofMeans = mean(tasks.map(({ n }, index) => (chance[index] ?? 0) / n));
  const observed = sampleVariance(tasks.map(({ n, c }) => c / n));
  return { within: mean(chance), between: Math.max(0, observed - ofMeans) };
}

/**
 * The width of the 95% interval of the success rate (0 to 1) over `tasks` tasks of `repeats` runs each, clustered by
 * task: 2 t √((between + within / repeats) / tasks), at most 1. The variance is that of two-stage sampling: Cochran,
 * Sampling Techniques, third edition, 10.3, with neither stage exhausted; Miller, Adding Error Bars to Evals (2024), 3.1.
 * @example
 * widthOf(COIN_TOSS, 40, 5) // 0.1430…
 */
export function widthOf({ within, between }: Spread, tasks: number, repeats: number): number {
  if (tasks < 2) return 1;
  return Math.min(1, 2 * studentT975(tasks - 1) * Math.sqrt((between + within / repeats) / tasks));
}

/**
 * The fewest repeats that bring the interval of `widthOf` to at most `width`; null where a thousand don't: what the tasks
 * differ by among themselves no repeat makes smaller.
 * @example
 * repeatsFor(0.15, COIN_TOSS, 40) // 5
 */
export function repeatsFor(width: number, spread: Spread, tasks: number): number | null {
  if (tasks < 2) return null;
  const allowed = tasks * (width / (2 * studentT975(tasks - 1))) ** 2 - spread.between;
  // The nudge keeps the last bits from asking for one repeat more.
  const repeats = Math.max(1, Math.ceil(spread.within / allowed - 1e-9));
  return allowed > 0 && repeats <= MOST_REPEATS ? repeats : null;
}
