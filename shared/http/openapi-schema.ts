import * as z from "zod";

/** A JSON Schema, or any part of one. */
export type Schema = Record<string, unknown>;

/** What zod makes of a schema: JSON Schema, with the ids that were given by `meta`. */
const Generated = z.looseObject({
  id: z.string().optional(),
  $schema: z.string().optional(),
  $defs: z.record(z.string(), z.looseObject({})).optional(),
});

/** zod's name for `z.json()`, the only recursive schema without an id; it is numbered anew in each call. */
const UNNAMED = /__schema\d+/g;

/** The name of `z.json()` in the document. */
export const ANY_JSON = "JsonValue";

/** `z.json()` as it is told: what is inside of JSON is JSON, and generators of clients stumble over what refers to itself. */
const ANY: Schema = {
  anyOf: [
    ...["string", "number", "boolean", "null"].map((type) => ({ type })),
    { type: "array", items: {} },
    { type: "object", additionalProperties: {} },
  ],
};

/** Formats that say all that callers have to know. */
const TELLING = new Set<unknown>(["date", "date-time", "uuid"]);

/** Leaves out the pattern by which zod says once more what a format says: it makes the document longer, and tells nobody more. */
function withoutEcho({ jsonSchema }: { jsonSchema: { format?: unknown; pattern?: unknown } }): void {
  if (TELLING.has(jsonSchema.format)) delete jsonSchema.pattern;
}

/** The JSON Schema of a zod schema; each schema with an id moves to the components and is referred to there. */
export function toSchema(schema: z.ZodType, io: "input" | "output", schemas: Record<string, Schema>): Schema {
  const generated = JSON.stringify(
    z.toJSONSchema(schema, { io, unrepresentable: "any", target: "draft-2020-12", override: withoutEcho }),
  );
  const json = Generated.parse(JSON.parse(generated.replaceAll(UNNAMED, ANY_JSON)));
  const { $schema: _dialect, $defs = {}, ...root } = json;
  for (const [name, definition] of Object.entries($defs)) schemas[name] ??= name === ANY_JSON ? ANY : moved(definition);
  const { id } = root;
  if (id === undefined) return moved(root);
  schemas[id] ??= moved(root);
  return { $ref: `#/components/schemas/${id}` };
}

/** The schema with references to the components, and without ids. */
function moved(schema: Schema): Schema {
  const text = JSON.stringify(schema, (key, value: unknown) => (key === "$id" ? undefined : value));
  const { id: _id, ...rest } = Generated.parse(JSON.parse(text.replaceAll("#/$defs/", "#/components/schemas/")));
  return rest;
}
