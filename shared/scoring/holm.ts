/**
 * P-values corrected by Holm for having been looked at together, in the order given: calling significant what is at most
 * alpha after it keeps the chance of even one false call at alpha or below, however the tests hang together. The k-th
 * smallest of m is multiplied by m - k + 1, is at least what the one before it came to, and at most 1. Holm, A simple
 * sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6:65 (1979); as adjusted p-values in
 * Wright, Adjusted P-values for simultaneous inference, Biometrics 48:1005 (1992).
 *
 * @param pValues each 0 to 1
 * @example
 * holm([0.01, 0.04, 0.03, 0.005]) // [0.03, 0.06, 0.06, 0.02]
 */
export function holm(pValues: readonly number[]): number[] {
  const adjusted = pValues.map(() => 1);
  const ascending = pValues.map((p, index) => ({ p, index })).toSorted((a, b) => a.p - b.p);
  let least = 0;
  for (const [rank, { p, index }] of ascending.entries()) {
    least = Math.min(1, Math.max(least, p * (pValues.length - rank)));
    adjusted[index] = least;
  }
  return adjusted;
}
