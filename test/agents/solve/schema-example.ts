import { Validator } from "@cfworker/json-schema";
import type { Json } from "../protocol.ts";
import type { Solver } from "./kind.ts";

const MAX_TRIES = 2000;
const MAX_VARIANTS = 6;
const MAX_ITEMS = 8;
const WORDS = ["Arden", "Belmor", "Caspen", "Dorlin", "Esker", "Farrow", "Galden", "Hollis"];

type Schema = { [key: string]: Json };

/** An instance of the task's schema, where nothing else decides what is right. */
export const schemaExample: Solver = ({ prompt, input, output_schema }) => {
  if (input !== undefined || output_schema === undefined || !/\bschema\b/iu.test(prompt)) return null;
  const [example] = variantsOf(output_schema, 0);
  return example === undefined ? null : { output: example };
};

/**
 * Different values that are valid against a schema (2020-12), as far as they can be made of its parts: alternatives of
 * `anyOf` and `oneOf` are tried in turn, and what the whole schema does not take is dropped. `at` makes neighbours differ.
 */
export function variantsOf(schema: Schema, at: number): Json[] {
  const validator = new Validator(schema, "2020-12");
  const found = new Map<string, Json>();
  for (const alternative of alternativesOf(schema)) {
    for (const value of candidatesOf(alternative, at)) {
      if (found.size < MAX_VARIANTS && validator.validate(value).valid) found.set(JSON.stringify(value), value);
    }
  }
  return [...found.values()];
}

/** The schema joined with each branch of its `anyOf` or `oneOf`. */
function alternativesOf(schema: Schema): Schema[] {
  const { anyOf, oneOf, ...base } = schema;
  const branches = [anyOf, oneOf].find((list) => Array.isArray(list));
  return Array.isArray(branches) ? branches.filter(isSchema).map((branch) => joined(base, branch)) : [base];
}

function joined(base: Schema, branch: Schema): Schema {
  const properties: Schema = { ...asSchema(base["properties"]) };
  for (const [name, part] of Object.entries(asSchema(branch["properties"]))) {
    properties[name] = { ...asSchema(properties[name]), ...asSchema(part) };
  }
  const required = [...asList(base["required"]), ...asList(branch["required"])];
  return { ...base, ...branch, ...(Object.keys(properties).length > 0 ? { properties, required } : {}) };
}

function candidatesOf(schema: Schema, at: number): Json[] {
  if (schema["const"] !== undefined) return [schema["const"]];
  if (Array.isArray(schema["enum"])) return rotated(schema["enum"], at);
  const type = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"];
  switch (type) {
    case "object":
      return objectsOf(schema, at);
    case "array":
      return arraysOf(schema, at);
    case "string":
      return [stringOf(schema, at)];
    case "integer":
    case "number":
      return [numberOf(schema, at)];
    case "boolean":
      return rotated([true, false], at);
    default:
      return [null];
  }
}

/** One object per value of the property that can take most; the others stay with their first. */
function objectsOf(schema: Schema, at: number): Json[] {
  const properties = asSchema(schema["properties"]);
  const names = asList(schema["required"]).filter((name) => typeof name === "string");
  const values = new Map(names.map((name) => [name, variantsOf(asSchema(properties[name]), at)]));
  if ([...values.values()].some((list) => list.length === 0)) return [];
  const first = Object.fromEntries([...values].map(([name, [value = null]]) => [name, value]));
  return [first, ...[...values].flatMap(([name, list]) => list.slice(1).map((value) => ({ ...first, [name]: value })))];
}

/** Arrays of the least length, with every choice of a variant for each place, until one is valid. */
function arraysOf(schema: Schema, at: number): Json[] {
  const length = Math.min(MAX_ITEMS, Math.max(1, Number(schema["minItems"] ?? 0)));
  const places = Array.from({ length }, (_, index) => variantsOf(asSchema(schema["items"]), at + index));
  if (places.some((variants) => variants.length === 0)) return [];
  const validator = new Validator(schema, "2020-12");
  const total = places.reduce((count, variants) => count * variants.length, 1);
  for (let choice = 0; choice < Math.min(total, MAX_TRIES); choice += 1) {
    let rest = choice;
    const value = places.map((variants) => {
      const item = variants[rest % variants.length] ?? null;
      rest = Math.floor(rest / variants.length);
      return item;
    });
    if (validator.validate(value).valid) return [value];
  }
  return [];
}

function stringOf(schema: Schema, at: number): string {
  const word = WORDS[at % WORDS.length] ?? "";
  const length = Math.max(Number(schema["minLength"] ?? 0), 1);
  return word.padEnd(length, "a").slice(0, Number(schema["maxLength"] ?? word.length + length));
}

function numberOf(schema: Schema, at: number): number {
  const step = Number(schema["multipleOf"] ?? 1);
  const open = Number(schema["exclusiveMinimum"] ?? Number.NEGATIVE_INFINITY) + step;
  const least = Math.max(Number(schema["minimum"] ?? Number.NEGATIVE_INFINITY), open);
  const first = Math.ceil((Number.isFinite(least) ? least : 0) / step) * step;
  const most = Number(schema["maximum"] ?? Number.POSITIVE_INFINITY);
  return first + at * step <= most ? first + at * step : first;
}

function rotated(values: readonly Json[], at: number): Json[] {
  return values.map((_, index) => values[(index + at) % values.length] ?? null);
}

function isSchema(value: Json | undefined): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asSchema(value: Json | undefined): Schema {
  return isSchema(value) ? value : {};
}

function asList(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}
