/**
 * A number with what it counts, in the singular for one alone.
 * @example
 * numbered(1, "run") // "1 run"
 * numbered(2, "canary", "canaries") // "2 canaries"
 */
export function numbered(count: number, one: string, more = `${one}s`): string {
  return `${count} ${count === 1 ? one : more}`;
}
