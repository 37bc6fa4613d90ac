import { depthWithin, holdsRounded, isObject } from "./json.ts";
import { compilePattern } from "./re2.ts";
import type { Json } from "./schema.ts";
import { type Issue, pointer } from "./types.ts";

const TYPES = ["null", "boolean", "object", "array", "number", "string", "integer"] as const;

/** A JSON Schema 2020-12 that `checkOutputSchema` found nothing in. */
export type OutputSchema = boolean | SchemaObject;

/** The keywords that are evaluated; what annotates is not listed. */
export interface SchemaObject {
  $ref?: string;
  $defs?: Record<string, OutputSchema>;
  type?: string | string[];
  const?: Json;
  enum?: Json[];
  multipleOf?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  prefixItems?: OutputSchema[];
  items?: OutputSchema;
  contains?: OutputSchema;
  minContains?: number;
  maxContains?: number;
  minProperties?: number;
  maxProperties?: number;
  required?: string[];
  dependentRequired?: Record<string, string[]>;
  properties?: Record<string, OutputSchema>;
  patternProperties?: Record<string, OutputSchema>;
  additionalProperties?: OutputSchema;
  propertyNames?: OutputSchema;
  dependentSchemas?: Record<string, OutputSchema>;
  allOf?: OutputSchema[];
  anyOf?: OutputSchema[];
  oneOf?: OutputSchema[];
  not?: OutputSchema;
  if?: OutputSchema;
  then?: OutputSchema;
  else?: OutputSchema;
}

const MAX_SCHEMA_DEPTH = 40;
const MAX_DEFINITIONS = 100;
const DIALECT = "https://json-schema.org/draft/2020-12/schema";
const LOCAL_REFERENCE = /^#(?:\/\$defs\/([^/~%]+))?$/u;

// Keywords that say something to the reader and nothing about validity; `format` is one by the standard's default.
const ANNOTATIONS = [
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "$comment",
  "format",
  "contentEncoding",
  "contentMediaType",
];

/** Says what is wrong with the value of a keyword, or null. */
type Rule = (value: Json) => string | null;

const must =
  (holds: (value: Json) => boolean, advice: string): Rule =>
  (value) =>
    holds(value) ? null : advice;

/** The rule, and that no digit of a number was lost when it was parsed. */
const exactly =
  (rule: Rule): Rule =>
  (value) =>
    rule(value) ?? (holdsRounded(value) ? LOST_DIGITS : null);

const LOST_DIGITS =
  "Leave out numbers beyond 2^53, whose last digits are lost in JSON: ask for a string of digits instead.";

const isNames = (value: Json): boolean => Array.isArray(value) && value.every((name) => typeof name === "string");
const isType = (value: Json): boolean => TYPES.some((type) => type === value);

const isPattern: Rule = (value) => {
  if (typeof value !== "string") return "Give a pattern: a string.";
  const pattern = compilePattern(value);
  return "fault" in pattern ? pattern.fault : null;
};

const VALUE_RULES: readonly [string[], Rule][] = [
  [
    ["$ref"],
    must(
      (value) => typeof value === "string" && LOCAL_REFERENCE.test(value),
      "Refer to # or to #/$defs/name: nothing else is looked up, and nothing is fetched.",
    ),
  ],
  [
    ["type"],
    must(
      (value) => isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType)),
      `Give one or several of ${TYPES.join(", ")}.`,
    ),
  ],
  [["enum"], exactly(must(Array.isArray, "Give a list of values."))],
  [["pattern"], isPattern],
  [["multipleOf"], exactly(must((value) => typeof value === "number" && value > 0, "Give a number above 0."))],
  [
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"],
    exactly(must((value) => typeof value === "number", "Give a number.")),
  ],
  [
    ["Length", "Items", "Contains", "Properties"].flatMap((counted) => [`min${counted}`, `max${counted}`]),
    must((value) => Number.isInteger(value) && Number(value) >= 0, "Give a whole number, 0 or more."),
  ],
  [["uniqueItems"], must((value) => typeof value === "boolean", "Give true or false.")],
  [["required"], must(isNames, "Give a list of property names.")],
  [
    ["dependentRequired"],
    must((value) => isObject(value) && Object.values(value).every(isNames), "Give lists of property names."),
  ],
  [["const"], exactly(() => null)],
  [ANNOTATIONS, () => null],
];
const RULE_OF: ReadonlyMap<string, Rule> = new Map(
  VALUE_RULES.flatMap(([keywords, rule]) => keywords.map((keyword) => [keyword, rule])),
);
const SCHEMA_KEYWORDS = new Set([
  "items",
  "contains",
  "additionalProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
]);
const LIST_KEYWORDS = new Set(["prefixItems", "allOf", "anyOf", "oneOf"]);
const MAP_KEYWORDS = new Set(["properties", "patternProperties", "dependentSchemas", "$defs"]);
const ROOT_KEYWORDS = new Set(["$schema", "$id", "$defs"]);

/**
 * What keeps `schema` from being graded with: it must be valid by JSON Schema 2020-12, and leave out what cannot be
 * decided here in bounded time or without a network. Taken are all keywords of the standard but `unevaluatedItems`,
 * `unevaluatedProperties`, `$anchor` and the dynamic ones; patterns are in RE2 syntax; `$ref` is `#` or `#/$defs/name`;
 * `$defs` and `$id` stand at the root; `format` annotates, as is the standard's default. No number that a value is compared
 * with may be beyond 2^53.
 * @example
 * checkOutputSchema({ type: "object" }) // []
 * checkOutputSchema({ type: "objekt" }) // [{ pointer: "/output_schema/type", code: "invalid_schema", … }]
 */
export function checkOutputSchema(schema: Json): Issue[] {
  if (!depthWithin(schema, MAX_SCHEMA_DEPTH)) return [issueAt([], `Nest the schema at most ${MAX_SCHEMA_DEPTH} deep.`)];
  const defs = isObject(schema) && isObject(schema["$defs"]) ? schema["$defs"] : {};
  const tooMany = Object.keys(defs).length > MAX_DEFINITIONS;
  if (tooMany) return [issueAt(["$defs"], `Define at most ${MAX_DEFINITIONS} schemas.`)];
  const issues = checkSchema(schema, [], defs);
  return issues.length > 0 ? issues : checkLoops(schema, defs);
}

type Path = (string | number)[];
type Defs = { [name: string]: Json };

function issueAt(path: Path, message: string): Issue {
  return { pointer: pointer("output_schema", ...path), code: "invalid_schema", message };
}

function checkSchema(schema: Json, path: Path, defs: Defs): Issue[] {
  if (typeof schema === "boolean") return [];
  if (!isObject(schema)) return [issueAt(path, "Give a schema: an object, true or false.")];
  return Object.entries(schema).flatMap(([keyword, value]) => checkKeyword(keyword, value, [...path, keyword], defs));
}

function checkKeyword(keyword: string, value: Json, path: Path, defs: Defs): Issue[] {
  if (ROOT_KEYWORDS.has(keyword) && path.length > 1) return [issueAt(path, `Move ${keyword} to the schema's root.`)];
  if (keyword === "$schema") return value === DIALECT ? [] : [issueAt(path, `Use the dialect ${DIALECT}.`)];
  if (keyword === "$id") return typeof value === "string" ? [] : [issueAt(path, "Give a URI.")];
  if (SCHEMA_KEYWORDS.has(keyword)) return checkSchema(value, path, defs);
  if (LIST_KEYWORDS.has(keyword)) {
    if (!Array.isArray(value) || value.length === 0) return [issueAt(path, "Give a list of at least one schema.")];
    return value.flatMap((item, index) => checkSchema(item, [...path, index], defs));
  }
  if (MAP_KEYWORDS.has(keyword)) {
    if (!isObject(value)) return [issueAt(path, "Give an object whose values are schemas.")];
    return Object.entries(value).flatMap(([name, item]) => {
      const fault = keyword === "patternProperties" ? isPattern(name) : null;
      return fault === null ? checkSchema(item, [...path, name], defs) : [issueAt([...path, name], fault)];
    });
  }
  const rule = RULE_OF.get(keyword);
  const message = rule === undefined ? "Leave this keyword out: it is not supported." : rule(value);
  if (message !== null) return [issueAt(path, message)];
  const name = keyword === "$ref" ? nameOf(value) : undefined;
  return name === undefined || Object.hasOwn(defs, name) ? [] : [issueAt(path, "Define what it refers to in $defs.")];
}

/** The name in `#/$defs/name`; undefined for `#`. */
function nameOf(reference: Json | undefined): string | undefined {
  return typeof reference === "string" ? LOCAL_REFERENCE.exec(reference)?.[1] : undefined;
}

const IN_PLACE_KEYWORDS = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

/** Finds references that come back to where they started without going down into the value: they would never end. */
function checkLoops(root: Json, defs: Defs): Issue[] {
  const state = new Map<string, "open" | "done">();
  const visit = (reference: string): boolean => {
    if (state.has(reference)) return state.get(reference) === "open";
    state.set(reference, "open");
    const name = nameOf(reference);
    const loops = referencesInPlace(name === undefined ? root : (defs[name] ?? true)).some(visit);
    state.set(reference, "done");
    return loops;
  };
  const start = ["#", ...Object.keys(defs).map((name) => `#/$defs/${name}`)].find(visit);
  if (start === undefined) return [];
  const path = start === "#" ? [] : ["$defs", start.slice("#/$defs/".length)];
  return [issueAt(path, "Break the loop: this schema refers to itself for one and the same value.")];
}

function referencesInPlace(schema: Json): string[] {
  if (!isObject(schema)) return [];
  const below = IN_PLACE_KEYWORDS.flatMap((keyword) => {
    const value = schema[keyword] ?? [];
    if (Array.isArray(value)) return value;
    return isObject(value) && keyword === "dependentSchemas" ? Object.values(value) : [value];
  });
  const own = typeof schema["$ref"] === "string" ? [schema["$ref"]] : [];
  return [...own, ...below.flatMap(referencesInPlace)];
}
