/** What was used last, by its key. */
export interface Lru<Key, Value extends object> {
  get(key: Key): Value | undefined;
  /** Keeps a value under a key that has none. */
  add(key: Key, value: Value): void;
}

/**
 * Keeps at most `most` values, and of those used last at least half as many. Each costs the same however many there are: a
 * Map from which the oldest entry is taken each time looks through the places of all that were taken before.
 */
export function createLru<Key, Value extends object>(most: number): Lru<Key, Value> {
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();
  function add(key: Key, value: Value): void {
    if (young.size >= most / 2) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
  }
  return {
    add,
    get(key) {
      const known = young.get(key);
      if (known !== undefined) return known;
      const before = old.get(key);
      if (before !== undefined) add(key, before);
      return before;
    },
  };
}
