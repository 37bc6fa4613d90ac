/** From here on Stirling's series is exact to 1e-13. */
const STIRLING_FROM = 10;
const PRECISION = 1e-12;

/**
 * The point below which a Beta distribution has the share `p` of its mass, to 1e-10.
 *
 * @param p between 0 and 1, neither included; `a` and `b` greater than 0
 * @example
 * betaQuantile(0.025, 1, 1) // 0.025: Beta(1, 1) is uniform
 */
export function betaQuantile(p: number, a: number, b: number): number {
  const logBeta = logGamma(a) + logGamma(b) - logGamma(a + b);
  let low = 0;
  let high = 1;
  let x = a / (a + b);
  // Newton's method, and bisection where it would leave what is known of the place.
  for (let step = 0; step < 200 && high - low > PRECISION; step++) {
    const excess = betaMass(x, a, b) - p;
    if (excess > 0) high = x;
    else low = x;
    const density = Math.exp((a - 1) * Math.log(x) + (b - 1) * Math.log1p(-x) - logBeta);
    const newton = x - excess / density;
    const next = newton > low && newton < high ? newton : (low + high) / 2;
    if (Math.abs(next - x) < PRECISION) return next;
    x = next;
  }
  return x;
}

/**
 * The mass of a Beta distribution below `x`: the regularised incomplete beta function. Abramowitz and Stegun 26.5.1.
 * @example
 * betaMass(0.5, 2, 1) // 0.25
 */
export function betaMass(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast below the mean; above it the other tail is taken.
  if (x > (a + 1) / (a + b + 2)) return 1 - betaMass(1 - x, b, a);
  const logFront = a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b);
  return (Math.exp(logFront) * continuedFraction(x, a, b)) / a;
}

// Abramowitz and Stegun 26.5.8, from the front by the method of Lentz.
function continuedFraction(x: number, a: number, b: number): number {
  let c = 1;
  let d = 1 / (1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    fraction *= c * d;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    fraction *= c * d;
    if (Math.abs(c * d - 1) < PRECISION) break;
  }
  return fraction;
}

// Abramowitz and Stegun 6.1.41, after 6.1.15 has brought the argument up to where the series is exact.
function logGamma(x: number): number {
  let shifted = x;
  let product = 1;
  for (; shifted < STIRLING_FROM; shifted++) product *= shifted;
  const inverse = 1 / shifted;
  const square = inverse * inverse;
  const series =
    inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square * (1 / 1188)))));
  return (shifted - 0.5) * Math.log(shifted) - shifted + 0.5 * Math.log(2 * Math.PI) + series - Math.log(product);
}
