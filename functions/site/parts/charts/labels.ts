/** A point with a text beside it. */
export interface Labelled {
  x: number;
  y: number;
  text: string;
}

/** Where the baseline of a text begins. */
export interface LabelPlace {
  x: number;
  y: number;
}

/** A rectangle by its edges; y grows downwards. */
interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** The radius of a dot, and how wide a digit and how high a line is: those of `.chart text` in the style. */
export const DOT = 4.5;
const DIGIT = 6.6;
const HEIGHT = 10;
/** Between a dot and its text, and at least between two texts, so that they are not read as one. */
const GAP = 2.5;

const SIDES = [
  [1, -1],
  [-1, -1],
  [1, 1],
  [-1, 1],
] as const;

/**
 * A place beside each point at which its text covers no dot and no other text and stays within `frame`; null where all four
 * corners are taken. Those that come first have the choice.
 * @example
 * placeLabels([{ x: 50, y: 50, text: "1" }], { left: 0, right: 100, top: 0, bottom: 100 }) // [{ x: 57, y: 45.5 }], to the upper right
 */
export function placeLabels(points: readonly Labelled[], frame: Box): (LabelPlace | null)[] {
  const taken: Box[] = points.map(({ x, y }) => ({ left: x - DOT, right: x + DOT, top: y - DOT, bottom: y + DOT }));
  return points.map(({ x, y, text }) => {
    const width = DIGIT * text.length;
    for (const [right, down] of SIDES) {
      const left = right === 1 ? x + DOT + GAP : x - DOT - GAP - width;
      const bottom = down === 1 ? y + DOT + HEIGHT : y - DOT;
      const box = { left, right: left + width, top: bottom - HEIGHT, bottom };
      if (!isWithin(box, frame) || taken.some((other) => overlap(box, other))) continue;
      taken.push({ ...box, left: left - GAP, right: left + width + GAP });
      return { x: left, y: bottom };
    }
    return null;
  });
}

function isWithin(box: Box, frame: Box): boolean {
  return box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
