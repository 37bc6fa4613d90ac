import { betaQuantile } from "./beta.ts";

/** The mass beyond each end of a 95% interval. */
const TAIL = 0.025;
/** A variance below this is the rounding of equal values. */
const ALIKE = 1e-12;

/** The weight of the task that was not seen: where tasks differ it grows with their dispersion, where all are alike it is fixed. */
const UNSEEN = { least: 0.1, byDispersion: 0.2, alike: 0.25 };

/** Per-task values of 0 to 1, summed up: all that an interval of their mean is made of. */
export interface Sample {
  mean: number;
  /** Sample variance, divisor tasks - 1. */
  variance: number;
  tasks: number;
  lowest: number;
  highest: number;
}

/** A composite score, 0 to 100, and its per-task scores summed up, as a board entry keeps them. */
export interface ScoreSums {
  composite_score: number;
  score_variance: number;
  score_lowest: number;
  score_highest: number;
  tasks: number;
}

/**
 * The `interval` of a board entry.
 * @example
 * scoreInterval({ composite_score: 70, score_variance: 0.04, score_lowest: 0.4, score_highest: 1, tasks: 10 })
 * // { low: 56.41, high: 81.54 }
 */
export function scoreInterval(sums: ScoreSums): { low: number; high: number } {
  const { composite_score, score_variance: variance, score_lowest: lowest, score_highest: highest, tasks } = sums;
  return interval({ mean: composite_score / 100, variance, tasks, lowest, highest });
}

/**
 * The 95% interval of the composite score (0 to 100, two decimals) that more tasks of the same kind would bring, at as
 * many repeats; see `boundsOf`. [0, 100] for fewer than two tasks, which tell no spread.
 * @example
 * interval({ mean: 0.7, variance: 0.04, lowest: 0.4, highest: 1, tasks: 10 }) // { low: 56.41, high: 81.54 }
 */
export function interval(scores: Sample): { low: number; high: number } {
  const { low, high } = boundsOf(scores);
  return { low: toScore(low), high: toScore(high) };
}

/**
 * The 95% interval of a mean over tasks, clustered by task: the tasks are a sample of those there could be. It is that of
 * a Bayesian bootstrap (Rubin, The Bayesian Bootstrap, Annals of Statistics 9:130, 1981) with a prior: each end is as if
 * a fraction of one more task had been seen, which scored as low, or as high, as can be. Where tasks are either won or
 * lost, that is the interval of a Beta posterior. It holds the mean, and has some width however alike the tasks are.
 *
 * The fractions were found by simulation: over agents of all skills, 93 to 97% of the intervals hold the truth, for 5 to
 * 40 tasks of 1 to 10 repeats, whether the tasks are all alike or either won or lost.
 *
 * @returns both ends, 0 to 1, not rounded; [0, 1] for fewer than two tasks
 * @example
 * boundsOf({ mean: 0.5, variance: 0, lowest: 0.5, highest: 0.5, tasks: 1 }) // { low: 0, high: 1 }
 */
export function boundsOf({ mean, variance, tasks, lowest, highest }: Sample): { low: number; high: number } {
  if (tasks < 2) return { low: 0, high: 1 };
  const mirrored = 1 - lowerEnd(1 - mean, variance, tasks, 1 - Math.min(lowest, mean));
  return {
    low: Math.min(lowerEnd(mean, variance, tasks, Math.max(highest, mean)), mean),
    high: Math.max(mirrored, mean),
  };
}

/**
 * A share of 0 to 1 as a score of 0 to 100, rounded half up to two decimals.
 * @example
 * toScore(0.123456) // 12.35
 */
export function toScore(share: number): number {
  // Sums in another order differ in their last bits; the nudge keeps those from deciding how a tie is rounded.
  return Math.round(share * 10_000 + 1e-7) / 100;
}

// The mean of `tasks` values and of `unseen` zeros under uniform Dirichlet weights, as the Beta distribution on
// [0, highest] of the same mean and variance.
function lowerEnd(mean: number, variance: number, tasks: number, highest: number): number {
  if (highest <= 0) return 0;
  const center = mean / highest;
  const spread = variance < ALIKE ? 0 : variance / highest ** 2;
  const unseen = unseenWeight(mean, variance);
  const total = tasks + unseen;
  const expected = (tasks * center) / total;
  const square = (tasks * center ** 2 + (tasks - 1) * spread) / total;
  const size = (expected * (1 - expected) * (total + 1)) / (square - expected ** 2) - 1;
  // No distribution spreads further than to its ends.
  if (!(size > 0)) return 0;
  return highest * betaQuantile(TAIL, expected * size, (1 - expected) * size);
}

function unseenWeight(mean: number, variance: number): number {
  if (variance < ALIKE) return UNSEEN.alike;
  return UNSEEN.least + UNSEEN.byDispersion * Math.min(1, variance / (mean * (1 - mean)));
}
