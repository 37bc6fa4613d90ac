import { fisherExact } from "./fisher.ts";

/** Of `total` runs, `passed` passed. */
export interface Passes {
  passed: number;
  total: number;
}

/** Whether an agent got worse, and what says so. Pass rates are 0 to 1; null without a run. */
export interface Regression {
  regressed: boolean;
  /** One-sided: how likely a fall of this size or more is by chance alone. */
  p_value: number;
  previous_pass_rate: number | null;
  pass_rate: number | null;
}

/** The least fall of the pass rate that counts, in percentage points. */
const LEAST_FALL = 10;
const SIGNIFICANT = 0.05;

/**
 * Judges whether an agent regressed between two screenings over the same tasks: its pass rate is at least 10 percentage
 * points lower, and Fisher's exact test gives a one-sided p below 0.05. Without a run on one side nothing regressed.
 * @example
 * regression({ passed: 38, total: 40 }, { passed: 28, total: 40 })
 * // { regressed: true, p_value: 0.0032…, previous_pass_rate: 0.95, pass_rate: 0.7 }
 */
export function regression(before: Passes, after: Passes): Regression {
  const { greater } = fisherExact(
    before.passed,
    before.total - before.passed,
    after.passed,
    after.total - after.passed,
  );
  // In whole numbers: 0.9 - 0.8 is less than 0.1.
  const fall = before.passed * after.total - after.passed * before.total;
  const known = before.total > 0 && after.total > 0;
  return {
    regressed: known && 100 * fall >= LEAST_FALL * before.total * after.total && greater < SIGNIFICANT,
    p_value: greater,
    previous_pass_rate: rate(before),
    pass_rate: rate(after),
  };
}

function rate({ passed, total }: Passes): number | null {
  return total === 0 ? null : passed / total;
}
