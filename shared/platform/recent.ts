/** The values that were last made, for each owner apart: they are forgotten with it. */
export interface Recent<Owner extends object, Value> {
  /** The value under this key of this owner, from `make` unless it is remembered. What `make` throws is not. */
  get(owner: Owner, key: string, make: () => Value): Value;
}

/** Remembers the `most` values of each owner that were asked for last. */
export function createRecent<Owner extends object, Value>(most: number): Recent<Owner, Value> {
  const owners = new WeakMap<Owner, Map<string, { value: Value }>>();
  return {
    get(owner, key, make) {
      const known = owners.get(owner) ?? new Map<string, { value: Value }>();
      owners.set(owner, known);
      const found = known.get(key) ?? { value: make() };
      // What is asked for becomes the youngest.
      known.delete(key);
      known.set(key, found);
      const [oldest] = known.keys();
      if (known.size > most && oldest !== undefined) known.delete(oldest);
      return found.value;
    },
  };
}
