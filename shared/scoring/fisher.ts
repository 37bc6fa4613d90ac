/** P-values of Fisher's exact test, each 0 to 1. */
export interface FisherExact {
  /** Of a first cell this small or smaller: low where the odds of the first row are the lower ones. */
  less: number;
  /** Of a first cell this great or greater: low where the odds of the first row are the higher ones. */
  greater: number;
  /** Of all tables that are at most as likely as this one. */
  twoSided: number;
}

/** R's `fisher.test` takes tables as equally likely whose probabilities differ by less than this share. */
const TIE = 1e-7;

/**
 * Fisher's exact test of the table [[a, b], [c, d]]: with its margins fixed, `a` is hypergeometric where rows and columns
 * are independent. Fisher, The Design of Experiments (1935), chapter II; Agresti, Categorical Data Analysis, third edition,
 * 3.5.1. Exact to ten digits for counts up to 100,000; takes time in the smallest margin.
 *
 * @throws RangeError for a count that is not a whole number of at least 0.
 * @example
 * fisherExact(3, 1, 1, 3) // { less: 0.9857…, greater: 0.2428…, twoSided: 0.4857… }
 */
export function fisherExact(a: number, b: number, c: number, d: number): FisherExact {
  if (![a, b, c, d].every((count) => Number.isSafeInteger(count) && count >= 0)) {
    throw new RangeError("counts are whole numbers of at least 0");
  }
  const [row, column, total] = [a + b, a + c, a + b + c + d];
  const least = Math.max(0, row + column - total);
  const weights = weigh(row, column, total);
  const own = (weights[a - least] ?? 0) * (1 + TIE);
  const all = sum(weights);
  const share = (part: Float64Array) => Math.min(1, sum(part) / all);
  return {
    less: share(weights.subarray(0, a - least + 1)),
    greater: share(weights.subarray(a - least)),
    twoSided: share(weights.filter((weight) => weight <= own)),
  };
}

/**
 * How likely each first cell is, from the least possible up, relative to the likeliest. Only quotients of neighbours come
 * in, so nothing overflows, and what underflows is too unlikely to count.
 */
function weigh(row: number, column: number, total: number): Float64Array {
  const least = Math.max(0, row + column - total);
  const most = Math.min(row, column);
  const likeliest = Math.floor(((row + 1) * (column + 1)) / (total + 2));
  const step = (k: number) => ((row - k) * (column - k)) / ((k + 1) * (total - row - column + k + 1));
  const weights = new Float64Array(most - least + 1);
  weights[likeliest - least] = 1;
  for (let k = likeliest; k < most; k++) weights[k + 1 - least] = (weights[k - least] ?? 0) * step(k);
  for (let k = likeliest; k > least; k--) weights[k - 1 - least] = (weights[k - least] ?? 0) / step(k - 1);
  return weights;
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}
