import { meanOfKnown } from "./mean.ts";

/**
 * pass^k: the unbiased estimate of the chance that k runs of a task all pass, when c of n runs passed.
 * C(c, k) / C(n, k), computed as a product, so that nothing overflows. Null when n < k: too few runs to tell.
 * @example
 * passHatK(4, 2, 2) // 1/6
 * passHatK(1, 1, 2) // null
 */
export function passHatK(n: number, c: number, k: number): number | null {
  if (n < k) return null;
  let chance = 1;
  for (let drawn = 0; drawn < k; drawn++) chance *= Math.max(c - drawn, 0) / (n - drawn);
  return chance;
}

/**
 * The mean of pass^k over the tasks with at least k runs; null when there is none.
 * @example
 * meanPassHatK([{ n: 4, c: 4 }, { n: 4, c: 2 }, { n: 1, c: 1 }], 2) // (1 + 1/6) / 2
 */
export function meanPassHatK(tasks: readonly { n: number; c: number }[], k: number): number | null {
  return meanOfKnown(tasks.map(({ n, c }) => passHatK(n, c, k)));
}
