/** For each left item the index of the right item that it is matched with, or -1. */
export type Matching = number[];

/** Whether the left item and the right item of these indices may be matched. */
export type Fits = (left: number, right: number) => boolean;

/**
 * A maximum matching of a bipartite graph by augmenting paths (Kuhn's algorithm): no other assignment of right items
 * to left items, each used at most once, matches more. O(left² × right) calls of `fits`.
 * @example
 * // Left 0 fits right 0 and 1, left 1 fits right 0 alone.
 * maximumMatching(2, 2, (left, right) => left === 0 || right === 0) // [1, 0]
 */
export function maximumMatching(left: number, right: number, fits: Fits): Matching {
  const ownerOf: (number | undefined)[] = [];
  const augment = (from: number, visited: Set<number>): boolean => {
    for (let to = 0; to < right; to += 1) {
      if (visited.has(to) || !fits(from, to)) continue;
      visited.add(to);
      const owner = ownerOf[to];
      if (owner === undefined || augment(owner, visited)) {
        ownerOf[to] = from;
        return true;
      }
    }
    return false;
  };
  for (let from = 0; from < left; from += 1) augment(from, new Set());
  const matching: Matching = Array.from({ length: left }, () => -1);
  ownerOf.forEach((owner, to) => {
    if (owner !== undefined) matching[owner] = to;
  });
  return matching;
}

/**
 * A maximum matching in which the right items stand in the order of their left items: a longest common subsequence
 * under `fits`, by dynamic programming. O(left × right) calls of `fits`.
 * @example
 * // The pairs of `maximumMatching` cross here, so that only one of them is in order.
 * maximumInOrderMatching(2, 2, (left, right) => left === 0 || right === 0) // [1, -1]
 */
export function maximumInOrderMatching(left: number, right: number, fits: Fits): Matching {
  const width = right + 1;
  // best[i × width + j]: the most pairs that the left items from i on and the right items from j on can form.
  const best = new Uint32Array((left + 1) * width);
  const at = (i: number, j: number): number => best[i * width + j] ?? 0;
  for (let i = left - 1; i >= 0; i -= 1) {
    for (let j = right - 1; j >= 0; j -= 1) {
      best[i * width + j] = fits(i, j) ? 1 + at(i + 1, j + 1) : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const matching: Matching = [];
  for (let i = 0, j = 0; i < left; i += 1) {
    while (j < right && at(i, j) === at(i, j + 1)) j += 1;
    const matched = at(i, j) > at(i + 1, j);
    matching.push(matched ? j : -1);
    if (matched) j += 1;
  }
  return matching;
}
