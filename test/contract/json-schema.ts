import * as z from "zod";

/** A JSON Schema, or any part of one. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** The JSON Schema (2020-12) of what a zod schema takes. */
function inputSchema(schema: z.ZodType): Json {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Json;
}

/** Every object within a JSON document, with its RFC 6901 pointer, from the outside in. */
export function* objectsIn(root: Json, pointer = ""): Generator<[string, { [name: string]: Json }]> {
  if (typeof root !== "object" || root === null) return;
  if (!Array.isArray(root)) yield [pointer, root];
  for (const [key, child] of Object.entries(root)) {
    yield* objectsIn(child, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
}

/**
 * Where a schema takes members that it does not name: the pointers of its objects that are not closed by
 * `additionalProperties: false`, and of every reference to free JSON.
 */
export function looseObjects(schema: z.ZodType): string[] {
  const root = inputSchema(schema);
  const free = new Set(
    [...objectsIn(root)]
      .filter(([pointer]) => /^\/\$defs\/__schema\d+$/.test(pointer))
      .map(([pointer]) => `#${pointer}`),
  );
  return [...objectsIn(root)]
    .filter(([pointer]) => !/^\/\$defs\/__schema\d+\b/.test(pointer))
    .filter(([pointer, part]) => {
      if (typeof part["$ref"] === "string" && free.has(part["$ref"])) return !pointer.endsWith("/additionalProperties");
      const names = pointer.endsWith("/properties");
      return !names && part["type"] === "object" && part["additionalProperties"] !== false;
    })
    .map(([pointer]) => fieldOf(pointer));
}

/** The path of a field as its users write it: `tool_calls[].arguments` for the pointer into the schema. */
function fieldOf(pointer: string): string {
  return pointer
    .replace(/^\/\$defs\/\w+/, "")
    .replaceAll("/properties/", ".")
    .replaceAll("/items", "[]")
    .replaceAll(/\/(?:anyOf|oneOf|allOf)\/\d+/g, "")
    .replace(/^\./, "");
}

interface Shape {
  $ref?: string;
  $defs?: Record<string, Shape>;
  type?: string;
  properties?: Record<string, unknown>;
  anyOf?: Shape[];
  oneOf?: Shape[];
}

/** What an answer may be, at its outside. */
export function shapesOf(schema: z.ZodType): Shape[] {
  const root = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Shape;
  const named = (shape: Shape): Shape => root.$defs?.[shape.$ref?.split("/").at(-1) ?? ""] ?? shape;
  const { anyOf, oneOf } = named(root);
  return (anyOf ?? oneOf ?? [root]).map(named);
}
