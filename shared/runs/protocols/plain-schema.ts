import { isRecord } from "./reading.ts";

/** Keywords of one schema, of a list of them, and of a map of them. */
const ONE: ReadonlySet<string> = new Set(["items", "additionalProperties"]);
const LIST: ReadonlySet<string> = new Set(["anyOf"]);
const MAP: ReadonlySet<string> = new Set(["properties", "$defs"]);

/** Keywords that say something to the reader alone. */
const ANNOTATION: ReadonlySet<string> = new Set(["title", "description", "default"]);

/** Keywords whose value is no schema. */
const VALUE: ReadonlySet<string> = new Set([
  ...ANNOTATION,
  "type",
  "enum",
  "const",
  "required",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
]);

const COUNT: ReadonlySet<string> = new Set(["minLength", "maxLength", "minItems", "maxItems"]);
/** The most that is counted to in a grammar: llama.cpp takes no more than 2000 repetitions. */
const MAX_COUNT = 1000;

/** Each schema needs one of these: without any, servers can't tell what is to be written. */
const TELLING = ["type", "enum", "const", "anyOf", "$ref"];

/**
 * Whether a schema is of objects, and one that servers write a grammar from as it is meant. Others are answered with 400, such as
 * `uniqueItems`, `contains` and `if` by vLLM, and a pattern without anchors by llama.cpp; or what they ask for can't be
 * written any more, since llama.cpp takes alternatives in place of all that stands beside them.
 * @example
 * isPlainSchema({ type: "object", properties: { a: { type: "integer", minimum: 1 } } }) // true
 * isPlainSchema({ type: "object", properties: { a: { type: "array", uniqueItems: true } } }) // false
 */
export function isPlainSchema(schema: unknown): boolean {
  return isRecord(schema) && schema["type"] === "object" && isPlain(schema);
}

function isPlain(schema: unknown): boolean {
  if (!isRecord(schema) || !TELLING.some((keyword) => keyword in schema)) return false;
  const hasAlternatives = "anyOf" in schema;
  return Object.entries(schema).every(([keyword, value]) =>
    hasAlternatives && !LIST.has(keyword) ? ANNOTATION.has(keyword) : isPlainKeyword(keyword, value),
  );
}

function isPlainKeyword(keyword: string, value: unknown): boolean {
  if (keyword === "$ref") return value !== "#";
  if (keyword === "additionalProperties" && typeof value === "boolean") return true;
  if (ONE.has(keyword)) return isPlain(value);
  if (LIST.has(keyword)) return Array.isArray(value) && value.every(isPlain);
  if (MAP.has(keyword)) return isRecord(value) && Object.values(value).every(isPlain);
  return COUNT.has(keyword) ? Number(value) <= MAX_COUNT : VALUE.has(keyword);
}
