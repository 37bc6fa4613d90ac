import type { ExactJson } from "../platform/exact-json.ts";
import { canonical, isObject } from "./json.ts";
import type { OutputSchema, SchemaObject } from "./output-schema.ts";
import { type Pattern, compilePattern } from "./re2.ts";
import { codePoints } from "./text.ts";
import { pointer } from "./types.ts";

/** The work that one evaluation may cost, in visited values; a hostile answer can double it at every level. */
const BUDGET = 2_000_000;

/** Deepest recursion of one evaluation: far more than an honest schema takes, far less than the stack holds. */
const MAX_RECURSION = 500;

/** The first keyword that failed, and the JSON pointer of the value it failed on. */
export interface Failure {
  at: string;
  keyword: string;
}

/** Thrown when an evaluation costs more than its budget. */
export class EvaluationBudgetError extends Error {}

/**
 * Evaluates `value` against a schema that passed `checkOutputSchema`, by JSON Schema 2020-12: null where it is valid,
 * else the first failure. Every pattern runs in linear time, and the work as a whole is bounded.
 * @throws EvaluationBudgetError where the bound is reached
 * @example
 * evaluateSchema({ type: "object", required: ["a"] }, {}) // { at: "/a", keyword: "required" }
 */
export function evaluateSchema(schema: OutputSchema, value: ExactJson): Failure | null {
  return new Evaluation(schema).evaluate(schema, value, []);
}

type Path = (string | number)[];

class Evaluation {
  readonly #root: OutputSchema;
  readonly #patterns = new Map<string, Pattern>();
  readonly #texts = new WeakMap<object, string>();
  #budget = BUDGET;
  #recursion = 0;

  constructor(root: OutputSchema) {
    this.#root = root;
  }

  evaluate(schema: OutputSchema, value: ExactJson, path: Path): Failure | null {
    this.#spend(1 + extentOf(value));
    if (typeof schema === "boolean") return schema ? null : failure("false", path);
    if (this.#recursion === MAX_RECURSION) throw new EvaluationBudgetError("The evaluation recurses too deeply.");
    this.#recursion += 1;
    const failed =
      this.#evaluateAny(schema, value, path) ??
      (typeof value === "number" || typeof value === "bigint" ? evaluateNumber(schema, value, path) : null) ??
      (typeof value === "string" ? this.#evaluateString(schema, value, path) : null) ??
      (Array.isArray(value) ? this.#evaluateArray(schema, value, path) : null) ??
      (isObject(value) ? this.#evaluateObject(schema, value, path) : null);
    this.#recursion -= 1;
    return failed;
  }

  #spend(steps: number): void {
    this.#budget -= steps;
    if (this.#budget < 0) throw new EvaluationBudgetError("The evaluation costs too much work.");
  }

  #holds(schema: OutputSchema, value: ExactJson): boolean {
    return this.evaluate(schema, value, []) === null;
  }

  /** The canonical text of `value`, made once for each array and object, however often schemas compare it. */
  #textOf(value: ExactJson): string {
    if (value === null || typeof value !== "object") return canonical(value);
    const text = this.#texts.get(value) ?? canonical(value);
    this.#texts.set(value, text);
    return text;
  }

  #isAmong(options: readonly ExactJson[], value: ExactJson): boolean {
    const text = this.#textOf(value);
    return options.some((option) => this.#textOf(option) === text);
  }

  #matches(source: string, text: string): boolean {
    const pattern = this.#patterns.get(source) ?? compilePattern(source);
    if ("fault" in pattern) throw new TypeError(pattern.fault);
    this.#patterns.set(source, pattern);
    if (text.length > pattern.maxLength) throw new EvaluationBudgetError("A text is too long for its pattern.");
    this.#spend(Math.ceil((text.length * pattern.size) / 25));
    return pattern.isFoundIn(text);
  }

  #resolve(reference: string): OutputSchema {
    if (reference === "#" || typeof this.#root === "boolean") return this.#root;
    return this.#root.$defs?.[reference.slice("#/$defs/".length)] ?? true;
  }

  #evaluateAny(schema: SchemaObject, value: ExactJson, path: Path): Failure | null {
    const { type, $ref, allOf, anyOf, oneOf } = schema;
    const types = typeof type === "string" ? [type] : type;
    if (types && !types.some((name) => isOfType(value, name))) return failure("type", path);
    if (schema.const !== undefined && !this.#isAmong([schema.const], value)) return failure("const", path);
    if (schema.enum !== undefined && !this.#isAmong(schema.enum, value)) return failure("enum", path);
    if ($ref !== undefined) {
      const failed = this.evaluate(this.#resolve($ref), value, path);
      if (failed) return failed;
    }
    for (const part of allOf ?? []) {
      const failed = this.evaluate(part, value, path);
      if (failed) return failed;
    }
    if (anyOf && !anyOf.some((part) => this.#holds(part, value))) return failure("anyOf", path);
    if (oneOf && oneOf.filter((part) => this.#holds(part, value)).length !== 1) return failure("oneOf", path);
    if (schema.not !== undefined && this.#holds(schema.not, value)) return failure("not", path);
    if (schema.if === undefined) return null;
    const branch = this.#holds(schema.if, value) ? schema.then : schema.else;
    return branch === undefined ? null : this.evaluate(branch, value, path);
  }

  #evaluateString(schema: SchemaObject, value: string, path: Path): Failure | null {
    if (schema.minLength !== undefined || schema.maxLength !== undefined) {
      const keyword = outOfBounds(codePoints(value), schema.minLength, schema.maxLength);
      if (keyword) return failure(`${keyword}Length`, path);
    }
    return schema.pattern === undefined || this.#matches(schema.pattern, value) ? null : failure("pattern", path);
  }

  #evaluateArray(schema: SchemaObject, value: ExactJson[], path: Path): Failure | null {
    const keyword = outOfBounds(value.length, schema.minItems, schema.maxItems);
    if (keyword) return failure(`${keyword}Items`, path);
    if (schema.uniqueItems && new Set(value.map((item) => this.#textOf(item))).size < value.length) {
      return failure("uniqueItems", path);
    }
    for (const [index, item] of value.entries()) {
      const part = schema.prefixItems?.[index] ?? schema.items;
      const failed = part === undefined ? null : this.evaluate(part, item, [...path, index]);
      if (failed) return failed;
    }
    const { contains } = schema;
    if (contains === undefined) return null;
    const found = value.filter((item) => this.#holds(contains, item)).length;
    if (found < (schema.minContains ?? 1)) {
      return failure(schema.minContains === undefined ? "contains" : "minContains", path);
    }
    return found > (schema.maxContains ?? Number.POSITIVE_INFINITY) ? failure("maxContains", path) : null;
  }

  #evaluateObject(schema: SchemaObject, value: { [key: string]: ExactJson }, path: Path): Failure | null {
    const members = Object.entries(value);
    const keyword = outOfBounds(members.length, schema.minProperties, schema.maxProperties);
    if (keyword) return failure(`${keyword}Properties`, path);
    const missing = schema.required?.find((name) => !Object.hasOwn(value, name));
    if (missing !== undefined) return failure("required", [...path, missing]);
    for (const [name, others] of Object.entries(schema.dependentRequired ?? {})) {
      const absent = Object.hasOwn(value, name) ? others.find((other) => !Object.hasOwn(value, other)) : undefined;
      if (absent !== undefined) return failure("dependentRequired", [...path, absent]);
    }
    for (const [name, part] of Object.entries(schema.dependentSchemas ?? {})) {
      const failed = Object.hasOwn(value, name) ? this.evaluate(part, value, path) : null;
      if (failed) return failed;
    }
    for (const [name, member] of members) {
      const failed = this.#evaluateProperty(schema, name, member, [...path, name]);
      if (failed) return failed;
    }
    return null;
  }

  #evaluateProperty(schema: SchemaObject, name: string, value: ExactJson, path: Path): Failure | null {
    const { properties = {}, patternProperties = {}, propertyNames = true } = schema;
    if (!this.#holds(propertyNames, name)) return failure("propertyNames", path);
    const parts = Object.entries(patternProperties)
      .filter(([source]) => this.#matches(source, name))
      .map(([, part]) => part);
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own !== undefined) parts.push(own);
    if (parts.length === 0 && schema.additionalProperties !== undefined) {
      if (schema.additionalProperties === false) return failure("additionalProperties", path);
      parts.push(schema.additionalProperties);
    }
    for (const part of parts) {
      const failed = this.evaluate(part, value, path);
      if (failed) return failed;
    }
    return null;
  }
}

function evaluateNumber(schema: SchemaObject, value: number | bigint, path: Path): Failure | null {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (minimum !== undefined && value < minimum) return failure("minimum", path);
  if (maximum !== undefined && value > maximum) return failure("maximum", path);
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return failure("exclusiveMinimum", path);
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) return failure("exclusiveMaximum", path);
  return multipleOf === undefined || isMultiple(value, multipleOf) ? null : failure("multipleOf", path);
}

/** Whether `value / step` is whole, up to the rounding of binary fractions: 0.3 is a multiple of 0.1. */
function isMultiple(value: number | bigint, step: number): boolean {
  if (typeof value === "bigint" && Number.isInteger(step)) return value % BigInt(step) === 0n;
  const ratio = Number(value) / step;
  return Math.abs(ratio - Math.round(ratio)) <= 4 * Number.EPSILON * Math.max(1, Math.abs(ratio));
}

function isOfType(value: ExactJson, type: string): boolean {
  if (typeof value === "bigint") return type === "integer" || type === "number";
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  return type === "null" ? value === null : typeof value === type;
}

function extentOf(value: ExactJson): number {
  if (typeof value === "string") return value.length / 64;
  return value !== null && typeof value === "object" ? Object.keys(value).length : 0;
}

function outOfBounds(count: number, min = 0, max = Number.POSITIVE_INFINITY): "min" | "max" | null {
  return count < min ? "min" : count > max ? "max" : null;
}

function failure(keyword: string, path: Path): Failure {
  return { at: pointer(...path), keyword };
}
