/**
 * A number with what it counts, in the singular for one alone.
 * @example
 * numbered(1, "run") // "1 run"
 * numbered(2, "canary", "canaries") // "2 canaries"
 */
export function numbered(count: number, one: string, more = `${one}s`): string {
  return `${count} ${count === 1 ? one : more}`;
}

/** How an id of the service looks. */
export const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;
