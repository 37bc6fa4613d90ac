/** All 2^n subsets; the members of each keep the order of the items. */
export function subsets<T>(items: readonly T[]): T[][] {
  return items.reduce<T[][]>((found, item) => [...found, ...found.map((subset) => [...subset, item])], [[]]);
}

/** All n! orders of different items, the given one first. */
export function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((first) => permutations(items.filter((item) => item !== first)).map((rest) => [first, ...rest]));
}

/** The pairs of items at the same places, as many as the shorter list has. */
export function zip<A, B>(left: readonly A[], right: readonly B[]): [A, B][] {
  return left.flatMap((a, i) => right.slice(i, i + 1).map((b): [A, B] => [a, b]));
}
