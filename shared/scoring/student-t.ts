/** The 97.5th percentile of the standard normal distribution. */
const Z975 = 1.959963984540054;
/** From here on the expansion is exact to 1e-7, below it the closed form is solved. */
const EXPANSION_FROM = 30;

/**
 * The 97.5th percentile of Student's t distribution, to 1e-7, for a whole number of degrees of freedom or Infinity.
 *
 * @throws RangeError for anything else.
 * @example
 * studentT975(10) // 2.2281388…
 * studentT975(Infinity) // 1.9599639…
 */
export function studentT975(df: number): number {
  if (!(df >= 1) || (Number.isFinite(df) && !Number.isInteger(df))) {
    throw new RangeError("degrees of freedom are a whole number of at least 1");
  }
  return df < EXPANSION_FROM ? solve(df) : expand(df);
}

// Abramowitz and Stegun 26.7.5: the Cornish-Fisher expansion in 1/df.
function expand(df: number): number {
  const z = Z975;
  return (
    z +
    (z ** 3 + z) / (4 * df) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * df ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * df ** 3) +
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / (92_160 * df ** 4)
  );
}

// t = √df · tan θ, and the mass within ±t grows with θ: bisection to the last bit.
function solve(df: number): number {
  let low = 0;
  let high = Math.PI / 2;
  for (let step = 0; step < 53; step++) {
    const middle = (low + high) / 2;
    if (centralMass(middle, df) < 0.95) low = middle;
    else high = middle;
  }
  return Math.sqrt(df) * Math.tan(low);
}

// Abramowitz and Stegun 26.7.3 (odd df) and 26.7.4 (even df): the mass of t within ±√df · tan θ as a finite sum.
function centralMass(theta: number, df: number): number {
  const odd = df % 2 === 1;
  const square = Math.cos(theta) ** 2;
  let term = odd ? Math.cos(theta) : 1;
  let sum = 0;
  for (let power = odd ? 1 : 0; power <= df - 2; power += 2) {
    sum += term;
    term *= (square * (power + 1)) / (power + 2);
  }
  return odd ? (2 / Math.PI) * (theta + Math.sin(theta) * sum) : Math.sin(theta) * sum;
}
