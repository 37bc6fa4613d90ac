/** A JSON object. */
export type Members = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The JSON of a text; undefined for a text that is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The RFC 8785 form of what JSON.parse gave. @throws RangeError for a lone surrogate, which has no such form. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (isObject(value)) {
    const names = Object.keys(value).toSorted();
    return `{${names.map((name) => `${canonical(name)}:${canonical(value[name])}`).join(",")}}`;
  }
  if (typeof value === "string" && !value.isWellFormed()) throw new RangeError("a string holds a lone surrogate");
  return JSON.stringify(value);
}

/** What stands at a path of members, as `run.id`; undefined where there is nothing. */
export function at(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);
}
