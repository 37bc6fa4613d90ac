/** Maps a range of values to a range of pixels; a range of one value is mapped to the middle. */
export function scale(
  [from, to]: readonly [number, number],
  [start, end]: readonly [number, number],
): (value: number) => number {
  const place = (value: number): number =>
    to === from ? (start + end) / 2 : start + ((value - from) / (to - from)) * (end - start);
  return (value) => Math.round(place(value) * 10) / 10;
}

/** Round bounds about values, in steps of `step` and within `least` and `most`, so that an axis is easy to read. */
export function bounds(values: readonly number[], step: number, least: number, most: number): [number, number] {
  const low = Math.max(least, Math.floor(Math.min(...values) / step) * step);
  const high = Math.min(most, Math.ceil(Math.max(...values) / step) * step);
  return low < high ? [low, high] : [Math.max(least, low - step), Math.min(most, high + step)];
}

/** The corners of a line or an area, as SVG has them. */
export function corners(points: readonly (readonly [x: number, y: number])[]): string {
  return points.map(([x, y]) => `${x},${y}`).join(" ");
}
