import type { Schema, Schemas } from "./document.ts";

/** How deep a table goes into objects within objects; what lies deeper stands in the OpenAPI document. */
const DEEPEST = 3;

/** One line of a table: a property, by its way from the root, such as `usage.calls[].model`. */
export interface Line {
  name: string;
  type: string;
  required: boolean;
  about: string;
}

/** Any JSON, which is not looked into. */
const ANY_JSON = "JsonValue";

function resolve(schema: Schema, schemas: Schemas): Schema {
  const name = schema.$ref?.split("/").at(-1);
  if (name === ANY_JSON) return schema;
  const target = name === undefined ? undefined : schemas(name);
  if (target === undefined) return schema;
  return { ...target, ...(schema.description === undefined ? {} : { description: schema.description }) };
}

const isNull = (schema: Schema): boolean => schema.type === "null";

/** A schema without its alternative of null, if that leaves one. */
function unwrapped(schema: Schema, schemas: Schemas): { inner: Schema; nullable: boolean } {
  const own = resolve(schema, schemas);
  const all = own.anyOf ?? own.oneOf ?? [];
  const others = all.filter((one) => !isNull(one));
  const [only] = others;
  if (only === undefined || others.length > 1) return { inner: own, nullable: all.length > others.length };
  const { description = own.description } = only;
  return { inner: { ...resolve(only, schemas), description }, nullable: all.length > others.length };
}

/** A type in words: "list of text or null", `"asc" | "desc"`. */
function typeOf(schema: Schema, schemas: Schemas): string {
  const { inner, nullable } = unwrapped(schema, schemas);
  return nullable ? `${plainType(inner, schemas)} or null` : plainType(inner, schemas);
}

const WORDS: Record<string, string> = { string: "text", integer: "whole number", array: "list" };

function plainType(schema: Schema, schemas: Schemas): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return [...new Set(options.map((one) => typeOf(one, schemas)))].join(" or ");
  if (schema.items !== undefined) return `list of ${typeOf(schema.items, schemas)}`;
  if (schema.type === undefined) return schema.properties === undefined ? "anything" : "object";
  const types = [schema.type].flat().map((one) => WORDS[one] ?? one);
  return `${types.join(" or ")}${schema.format === undefined ? "" : ` (${schema.format})`}`;
}

/** The limits of a value in words. */
function limitsOf(schema: Schema): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  // zod writes the bounds of safe integers, which say nothing to people.
  const low = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? minimum : undefined;
  const high = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined;
  return [
    range(low, high, ""),
    range(minLength, maxLength, " characters"),
    range(minItems, maxItems, " items"),
    schema.default === undefined ? "" : `default ${JSON.stringify(schema.default)}`,
  ].filter(Boolean);
}

function range(low: number | undefined, high: number | undefined, unit: string): string {
  if (low === undefined) return high === undefined ? "" : `at most ${high}${unit}`;
  return high === undefined ? `at least ${low}${unit}` : `${low} to ${high}${unit}`;
}

/** What is said of a value: its description and its limits. */
export function about(schema: Schema, schemas: Schemas): string {
  const { inner } = unwrapped(schema, schemas);
  const limits = limitsOf(inner).join(", ");
  const text = schema.description ?? inner.description ?? "";
  if (text === "") return limits;
  return limits === "" ? text : `${text.replace(/\.$/, "")}. ${limits[0]?.toUpperCase()}${limits.slice(1)}`;
}

/** A value's type in words, and what is said of it. */
export function described(schema: Schema, schemas: Schemas): { type: string; about: string } {
  return { type: typeOf(schema, schemas), about: about(schema, schemas) };
}

/** The properties of an object, of what a list holds, and of what lies within. */
export function linesOf(schema: Schema, schemas: Schemas, prefix = "", depth = 0): Line[] {
  const { inner } = unwrapped(schema, schemas);
  if (inner.items !== undefined) return linesOf(inner.items, schemas, `${prefix}[]`, depth);
  if (inner.properties === undefined || depth === DEEPEST) return [];
  return Object.entries(inner.properties).flatMap(([key, value]) => {
    const name = prefix === "" ? key : `${prefix}.${key}`;
    const required = inner.required?.includes(key) === true;
    return [{ name, required, ...described(value, schemas) }, ...linesOf(value, schemas, name, depth + 1)];
  });
}
