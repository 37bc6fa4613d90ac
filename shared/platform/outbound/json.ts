import { parseExact } from "../exact-json.ts";

/** A JSON value that is safe to walk and to merge, or why the text was not taken. */
export type BoundedJson = { ok: true; value: unknown } | { ok: false; reason: "not_json" | "too_deep" | "too_many" };

/**
 * How many items and members JSON from a stranger may have in all. An empty object takes three bytes of its text and twenty
 * times as much in memory, where several of them are held at once.
 */
export const MAX_VALUES = 50_000;

/** What to tell whoever sends more. */
export const TOO_MANY_VALUES = `Give at most ${MAX_VALUES} items and members of lists and objects.`;

/** How many items and members may still come. */
export interface Allowed {
  values: number;
}

/**
 * Parses JSON from a stranger. Nesting beyond `maxDepth` arrays and objects is refused, so that code which recurses
 * over the value can't run out of stack, and so are more than `MAX_VALUES` items and members, or than `allowed`, which several
 * texts of one answer share. Keys that reach a prototype when copied are dropped: `__proto__`, and `constructor` where it holds
 * a `prototype`; a plain `constructor` is data and stays. With `exact`, whole numbers beyond 2^53 are bigints, as `parseExact`
 * gives them. Never throws.
 */
export function parseJsonBounded(
  text: string,
  {
    maxDepth = 64,
    exact = false,
    allowed = { values: MAX_VALUES },
  }: { maxDepth?: number; exact?: boolean; allowed?: Allowed } = {},
): BoundedJson {
  let value: unknown;
  try {
    value = exact ? parseExact(text) : JSON.parse(text);
  } catch {
    return { ok: false, reason: "not_json" };
  }

  let level = isContainer(value) ? [value] : [];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > maxDepth) return { ok: false, reason: "too_deep" };
    const next: Container[] = [];
    for (const container of level) {
      if (!Array.isArray(container)) dropPrototypeKeys(container);
      const values = Object.values(container);
      allowed.values -= values.length;
      if (allowed.values < 0) return { ok: false, reason: "too_many" };
      for (const child of values) if (isContainer(child)) next.push(child);
    }
    level = next;
  }
  return { ok: true, value };
}

type Container = Record<string, unknown> | unknown[];

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}

function dropPrototypeKeys(object: Record<string, unknown>): void {
  if (Object.hasOwn(object, "__proto__")) delete object["__proto__"];
  if (!Object.hasOwn(object, "constructor")) return;
  const inner = object["constructor"];
  if (isContainer(inner) && Object.hasOwn(inner, "prototype")) delete object["constructor"];
}
