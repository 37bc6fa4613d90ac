/**
 * The arithmetic mean; 0 of nothing.
 * @example
 * mean([1, 2]) // 1.5
 */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}

/**
 * The mean of the values that are known; null where none is.
 * @example
 * meanOfKnown([1, null, 3]) // 2
 */
export function meanOfKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : mean(known);
}

/**
 * A value as it is shown, to six decimals: what differs by a rounding error alone is equal.
 * @example
 * rounded(0.1 + 0.2) // 0.3
 */
export function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
