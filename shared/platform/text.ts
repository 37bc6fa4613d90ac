/** Whether the database can hold a text: it is Unicode (no lone surrogate) and has no U+0000. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** Longer names are cut to this length before they are compared. */
const MAX_COMPARED = 64;

/** What it costs to take `name` for a known one: people leave letters out more often than they type others. */
const COST = { missing: 1, extra: 2, other: 2 };

/** The one of `known` that `name` is most likely to be a misspelling of, however unlikely; null where none is known. */
export function nearest(name: string, known: readonly string[]): string | null {
  const given = name.slice(0, MAX_COMPARED).toLowerCase();
  const distances = known.map((one) => [one, distance(given, one.toLowerCase())] as const);
  return distances.toSorted(([, a], [, b]) => a - b)[0]?.[0] ?? null;
}

/** The Levenshtein distance with those costs, a row of its table at a time. */
function distance(given: string, meant: string): number {
  let row = Array.from({ length: meant.length + 1 }, (_, j) => j * COST.missing);
  for (let i = 0; i < given.length; i += 1) {
    const next = [(i + 1) * COST.extra];
    for (let j = 0; j < meant.length; j += 1) {
      const replaced = (row[j] ?? 0) + (given[i] === meant[j] ? 0 : COST.other);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + COST.extra, (next[j] ?? 0) + COST.missing));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
