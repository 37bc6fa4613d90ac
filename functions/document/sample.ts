import { ANY_JSON, type Schema } from "../../shared/http/openapi-schema.ts";
import { isNode } from "./describe.ts";
import { SAMPLES } from "./samples.ts";

const BY_FORMAT: Readonly<Record<string, string>> = {
  uuid: "0199f3e0-8e24-7d17-9c46-0a1b2c3d4e5f",
  "date-time": "2026-11-21T09:00:00.000Z",
  date: "2026-11-21",
  email: "ada@example.com",
  uri: "https://agents.example.com/atlas",
};

/** Where an example is made for: the schemas that it refers to, and whether it is sent or answered. */
export interface Making {
  schemas: Readonly<Record<string, Schema>>;
  /** A request has what is required alone, an answer everything that it may have. */
  sends: boolean;
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The sample of a property, by the longest end of the way to it; undefined without one. */
function sampleFor(way: readonly string[]): unknown {
  const keys = way.map((_name, from) => way.slice(from).join("."));
  const key = keys.find((one) => Object.hasOwn(SAMPLES, one));
  return key === undefined ? undefined : SAMPLES[key];
}

/** Whether a sample is of one of the schema's types; all else is for the tests to find. */
function fits(value: unknown, schema: Schema, { schemas }: Making): boolean {
  const own = resolved(schema, schemas);
  const options = [...list(own["anyOf"]), ...list(own["oneOf"])].filter(isNode);
  if (options.length > 0) return options.some((one) => fits(value, one, { schemas, sends: false }));
  if (Array.isArray(own["enum"])) return own["enum"].includes(value);
  if (own["const"] !== undefined) return own["const"] === value;
  if (own["format"] === "uuid") return typeof value === "string" && /^[0-9a-f]{8}-/.test(value);
  const type = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  const types = [own["type"]].flat();
  if (own["type"] === undefined) return true;
  return types.includes(type) || (types.includes("integer") && Number.isInteger(value));
}

/** The schema that a reference leads to, or the schema itself. */
function resolved(schema: Schema, schemas: Making["schemas"]): Schema {
  const name = nameOf(schema);
  if (name === ANY_JSON) return {};
  return schemas[name] ?? schema;
}

/** The component that a schema refers to; empty where it is one itself. */
function nameOf({ $ref }: Schema): string {
  return typeof $ref === "string" ? ($ref.split("/").at(-1) ?? "") : "";
}

/** A value that fits a schema, as realistic as samples by name make it; `way` is the names that lead there. */
export function sampleOf(schema: Schema, way: readonly string[], making: Making): unknown {
  const name = nameOf(schema);
  const here = name === "" ? way : [...way, name];
  const own = resolved(schema, making.schemas);
  const [example] = list(own["examples"]);
  const given = sampleFor(way);
  if (given !== undefined && fits(given, own, making)) return given;
  const [first] = list(own["enum"]);
  const preset = example ?? own["const"] ?? own["default"] ?? first;
  if (preset !== undefined) return preset;
  const options = [...list(own["anyOf"]), ...list(own["oneOf"])].filter(isNode);
  const option = options.find((one) => one["type"] !== "null");
  if (option !== undefined) return sampleOf(option, here, making);
  const properties = own["properties"];
  if (isNode(properties)) {
    const required = list(own["required"]);
    const named = Object.entries(properties).filter(([key]) => !making.sends || required.includes(key));
    return Object.fromEntries(
      named.flatMap(([key, value]) => (isNode(value) ? [[key, sampleOf(value, [...here, key], making)] as const] : [])),
    );
  }
  if (isNode(own["items"])) return [sampleOf(own["items"], here, making)];
  return plain(own);
}

function plain({ type, format, minimum, minLength }: Schema): unknown {
  switch ([type].flat()[0]) {
    case "string":
      return BY_FORMAT[String(format)] ?? "example".repeat(Math.ceil(Math.max(1, Number(minLength ?? 1)) / 7));
    case "integer":
    case "number":
      return typeof minimum === "number" && minimum > 0 ? minimum : 1;
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return {};
  }
}
