import { boundsOf } from "./interval.ts";

/** Fewer canaries than this say nothing. */
const FEWEST_CANARIES = 20;
/** The canaries that are looked at: the latest ones. */
export const LATEST_CANARIES = 100;
/** From here on a gap is no accident of how hard the samples are. */
const MARKED_ABOVE = 0.1;

/** By how much more often canaries of a task passed than its scored runs, summed up over tasks; each is from -1 to 1. */
export interface GapSums {
  /** The mean over tasks. */
  gap: number;
  /** Sample variance, divisor tasks - 1. */
  variance: number;
  lowest: number;
  highest: number;
  tasks: number;
  /** How many canaries of these tasks there are. */
  canary_runs: number;
}

/** How much of its pass rate an agent owes to knowing the published samples, with a 95% interval; -1 to 1. */
export interface MemorisationGap {
  value: number;
  low: number;
  high: number;
  canary_runs: number;
}

/**
 * The mean over tasks of the pass rate of canaries, which are asked the published sample, minus that of the scored runs,
 * which are asked what nobody has seen: *d* = a/k - c/n for a task with *a* of *k* canaries and *c* of *n* scored runs passed.
 * The interval is clustered by task: `boundsOf` over (d + 1) / 2, whose prior keeps some width however alike the tasks are.
 * By simulation it holds the truth in 92 to 100% over 8 to 40 tasks and 20 to 100 canaries, whether nothing, a part or all
 * was learned by heart, and marks an honest agent in less than one of a hundred cases. Rounded to four decimals.
 *
 * @returns null under 20 canaries, which say nothing
 * @example
 * memorisationGap({ gap: 0.9, variance: 0.04, lowest: 0.5, highest: 1, tasks: 20, canary_runs: 24 })
 * // { value: 0.9, low: 0.7584, high: 0.9687, canary_runs: 24 }
 */
export function memorisationGap({ gap, variance, lowest, highest, ...counts }: GapSums): MemorisationGap | null {
  if (counts.canary_runs < FEWEST_CANARIES) return null;
  const { low, high } = boundsOf({
    mean: toShare(gap),
    variance: variance / 4,
    tasks: counts.tasks,
    lowest: toShare(lowest),
    highest: toShare(highest),
  });
  return { value: rounded(gap), low: toGap(low), high: toGap(high), canary_runs: counts.canary_runs };
}

/**
 * Whether the whole interval lies above 0.1: the agent knows the samples by heart.
 * @example
 * isMemorised({ value: 0.3, low: 0.12, high: 0.5, canary_runs: 40 }) // true
 */
export function isMemorised(gap: MemorisationGap | null): boolean {
  return gap !== null && gap.low > MARKED_ABOVE;
}

function toShare(gap: number): number {
  return (gap + 1) / 2;
}

function toGap(share: number): number {
  return rounded(2 * share - 1);
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
