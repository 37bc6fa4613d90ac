import { boundsOf } from "./interval.ts";
import { mean } from "./mean.ts";
import { sampleVariance } from "./score.ts";

/** One task's runs of two agents: of `n` runs each, `c` passed. */
export interface TaskPair {
  a: { n: number; c: number };
  b: { n: number; c: number };
}

/** Two agents over the same tasks. Rates are 0 to 1, differences (a less b) -1 to 1. */
export interface Paired {
  tasks: number;
  /** Tasks that a passes and b doesn't, and the other way round; an agent passes a task in more than half of its runs. */
  wins: number;
  losses: number;
  ties: number;
  mcnemar_p_value: number;
  /** Means over the tasks of the share of runs that passed; null without a task. */
  success_rate_a: number | null;
  success_rate_b: number | null;
  difference: number | null;
  difference_low: number;
  difference_high: number;
}

/** What two sides did at the tasks that both have runs of; each side by the task's id. */
export function pairsOf(a: ReadonlyMap<string, TaskPair["a"]>, b: ReadonlyMap<string, TaskPair["b"]>): TaskPair[] {
  return [...a].flatMap(([task, tally]) => {
    const other = b.get(task);
    return other === undefined ? [] : [{ a: tally, b: other }];
  });
}

/**
 * Compares two agents task by task, so that what makes a task hard for both cancels out. McNemar's test is over the tasks
 * that one passes and the other doesn't. The 95% interval of the difference in success is that of `boundsOf` over the
 * tasks' own differences (paired, clustered by task); [-1, 1] for fewer than two tasks, which tell no spread.
 * @example
 * paired([{ a: { n: 5, c: 5 }, b: { n: 5, c: 0 } }, { a: { n: 5, c: 5 }, b: { n: 5, c: 5 } }])
 * // { tasks: 2, wins: 1, losses: 0, ties: 1, mcnemar_p_value: 1, difference: 0.5, … }
 */
export function paired(pairs: readonly TaskPair[]): Paired {
  const rates = pairs.map(({ a, b }) => ({ a: a.c / a.n, b: b.c / b.n }));
  const wins = rates.filter(({ a, b }) => a > 0.5 && b <= 0.5).length;
  const losses = rates.filter(({ a, b }) => b > 0.5 && a <= 0.5).length;
  const tasks = pairs.length;
  const differences = rates.map(({ a, b }) => a - b);
  const difference = mean(differences);
  // As shares of the way from -1 to 1.
  const { low, high } = boundsOf({
    mean: (difference + 1) / 2,
    variance: sampleVariance(differences) / 4,
    tasks,
    lowest: (Math.min(...differences) + 1) / 2,
    highest: (Math.max(...differences) + 1) / 2,
  });
  const known = (value: number) => (tasks === 0 ? null : value);
  return {
    tasks,
    wins,
    losses,
    ties: tasks - wins - losses,
    mcnemar_p_value: mcnemarExact(wins, losses),
    success_rate_a: known(mean(rates.map(({ a }) => a))),
    success_rate_b: known(mean(rates.map(({ b }) => b))),
    difference: known(difference),
    difference_low: 2 * low - 1,
    difference_high: 2 * high - 1,
  };
}

/**
 * The two-sided p-value of McNemar's exact conditional test for `b` and `c` discordant pairs: twice the lower tail of
 * Binomial(b + c, ½) at the smaller of them, at most 1; 1 without a discordant pair. Fagerland, Lydersen, Laake: The McNemar
 * test for binary matched-pairs data, BMC Medical Research Methodology 13:91 (2013), equation 3.
 * @example
 * mcnemarExact(0, 6) // 0.03125
 */
export function mcnemarExact(b: number, c: number): number {
  const n = b + c;
  const least = Math.min(b, c);
  // From the largest term down, its logarithm apart: 2^-n alone would underflow beyond a thousand pairs.
  let logLargest = -n * Math.LN2;
  for (let k = 1; k <= least; k++) logLargest += Math.log((n - least + k) / k);
  let term = 1;
  let sum = 0;
  for (let k = least; k >= 0; k--) {
    sum += term;
    term *= k / (n - k + 1);
  }
  return Math.min(1, 2 * sum * Math.exp(logLargest));
}
