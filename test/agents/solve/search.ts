/** All orders of `items`, one after another: the first item at every place of each order of the others. */
export function* permutationsOf<T>(items: readonly T[]): Generator<T[]> {
  if (items.length === 0) {
    yield [];
    return;
  }
  const first = items.slice(0, 1);
  for (const rest of permutationsOf(items.slice(1))) {
    for (let place = 0; place < items.length; place += 1) yield rest.toSpliced(place, 0, ...first);
  }
}

/** All subsets of `items`, each in the order of `items`, the empty one first. */
export function* subsetsOf<T>(items: readonly T[]): Generator<T[]> {
  for (let mask = 0; mask < 2 ** items.length; mask += 1) {
    yield items.filter((_, index) => (mask >> index) % 2 === 1);
  }
}

/** The value that all of `values` are; null where they differ or there is none. */
export function unanimous<T>(values: Iterable<T>): T | null {
  const [value, ...others] = new Set(values);
  return value === undefined || others.length > 0 ? null : value;
}
