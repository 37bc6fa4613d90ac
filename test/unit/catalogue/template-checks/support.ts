import type { Json } from "../../../../shared/suites/public/types.ts";
import type { MintedTask } from "../../../../shared/suites/secret/types.ts";

/** Recomputes the key of a minted task from its prompt and input alone; throws where the task has not one answer. */
export type Check = (task: MintedTask) => Json;

/** The input of a task in the shape that its template documents. */
export function inputOf<T>(task: MintedTask): T {
  return JSON.parse(JSON.stringify(task.input));
}

/** The groups of the first match; throws where there is none. */
export function groups(pattern: RegExp, text: string): string[] {
  const found = pattern.exec(text);
  if (found === null) throw new Error(`${pattern} is not found in: ${text}`);
  return found.slice(1).map((group) => group ?? "");
}

/** The groups of the first match as numbers. */
export function numbers(pattern: RegExp, text: string): number[] {
  return groups(pattern, text).map(Number);
}

/** The one item of a list; throws on any other number of items. */
export function only<T>(items: readonly T[]): T {
  const [item] = items;
  if (items.length !== 1 || item === undefined) throw new Error(`expected one item, found ${items.length}`);
  return item;
}

/** Calls `visit` with each order of the items (Heap's algorithm, in place). */
export function forEachOrder(items: readonly string[], visit: (order: readonly string[]) => void): void {
  const order = [...items];
  const swap = (i: number, j: number) => {
    [order[i], order[j]] = [order[j] ?? "", order[i] ?? ""];
  };
  const generate = (size: number) => {
    if (size <= 1) return visit(order);
    for (let i = 0; i < size; i += 1) {
      generate(size - 1);
      swap(size % 2 === 0 ? i : 0, size - 1);
    }
  };
  generate(order.length);
}

/** Days since 1970-01-01 of `3 March 2027` or `2027-03-03`. */
export function parseDay(text: string): number {
  return Date.parse(/^\d{4}-/.test(text) ? `${text}T00:00:00Z` : `${text} 00:00 UTC`) / 86_400_000;
}

/** Minutes since midnight of `HH:MM`. */
export function parseClock(text: string): number {
  const [hours = 0, minutes = 0] = text.split(":").map(Number);
  return 60 * hours + minutes;
}

/** Whole cents of a decimal amount such as `12.34`. */
export function parseCents(text: string | number): number {
  return Math.round(Number(text) * 100);
}
