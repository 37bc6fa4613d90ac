import * as z from "zod";
import type { Context } from "../../../shared/platform/context.ts";

/** What of a JSON Schema the reference shows. */
export interface Schema {
  $ref?: string | undefined;
  type?: string | string[] | undefined;
  format?: string | undefined;
  const?: unknown;
  enum?: unknown[] | undefined;
  default?: unknown;
  examples?: unknown[] | undefined;
  description?: string | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  minLength?: number | undefined;
  maxLength?: number | undefined;
  minItems?: number | undefined;
  maxItems?: number | undefined;
  required?: string[] | undefined;
  properties?: Record<string, Schema> | undefined;
  items?: Schema | undefined;
  anyOf?: Schema[] | undefined;
  oneOf?: Schema[] | undefined;
}

const Schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    format: z.string().optional(),
    const: z.unknown().optional(),
    enum: z.array(z.unknown()).optional(),
    default: z.unknown().optional(),
    examples: z.array(z.unknown()).optional(),
    description: z.string().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    minLength: z.number().optional(),
    maxLength: z.number().optional(),
    minItems: z.number().optional(),
    maxItems: z.number().optional(),
    required: z.array(z.string()).optional(),
    properties: z.record(z.string(), Schema).optional(),
    items: Schema.optional(),
    anyOf: z.array(Schema).optional(),
    oneOf: z.array(Schema).optional(),
  }),
);

const Content = z.record(z.string(), z.object({ schema: Schema, example: z.unknown().optional() }));
/** What lists show of an operation; all else of it is read where it is shown. */
const Listed = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string(),
});
const Details = z.object({
  security: z.array(z.record(z.string(), z.unknown())),
  parameters: z
    .array(
      z.object({
        name: z.string(),
        in: z.string(),
        required: z.boolean(),
        description: z.string().optional(),
        schema: Schema,
        example: z.unknown().optional(),
      }),
    )
    .default([]),
  requestBody: z.object({ required: z.boolean(), content: Content }).optional(),
});
const Answers = z.record(z.string(), z.looseObject({ $ref: z.string().optional() }));
const Answer = z.object({ description: z.string(), content: Content.optional() });
const Document = z.object({
  info: z.object({ version: z.string(), description: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), Listed)),
  components: z.object({ schemas: z.record(z.string(), z.unknown()), responses: z.record(z.string(), z.unknown()) }),
});

/** One thing that the interface can be asked for. */
export type Operation = z.output<typeof Listed> & { method: string; path: string };

/** Finds the schema that the document has by a name. */
export type Schemas = (name: string) => Schema | undefined;

/** The interface as the OpenAPI document describes it. */
export interface Reference {
  info: { version: string; description: string };
  tags: { name: string; description: string }[];
  operations: Operation[];
  schemas: Schemas;
  /** All of an operation. */
  detailsOf(operation: Operation): Operation & Details;
}

/** What of an operation its section shows beside what lists do. */
type Details = z.output<typeof Details> & { responses: Record<string, z.output<typeof Answer>> };

let kept: Promise<Reference> | undefined;

/** The reference, read once in the life of an isolate. */
export function readReference(ctx: Context): Promise<Reference> {
  kept ??= ctx.openApi().then((text) => {
    const { info, tags, paths, components } = Document.parse(JSON.parse(text));
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
    );
    const detailsOf = ({ responses, ...operation }: Operation) => ({
      ...operation,
      ...Details.parse(operation),
      responses: Object.fromEntries(
        Object.entries(Answers.parse(responses)).map(([status, answer]) => {
          const shared = answer.$ref?.split("/").at(-1);
          return [status, Answer.parse(shared === undefined ? answer : components.responses[shared])];
        }),
      ),
    });
    return { info, tags, operations, schemas: readOnce(components.schemas), detailsOf };
  });
  return kept;
}

function readOnce(schemas: Readonly<Record<string, unknown>>): Schemas {
  const read = new Map<string, Schema>();
  return (name) => {
    const known = read.get(name);
    if (known !== undefined || schemas[name] === undefined) return known;
    const schema = Schema.parse(schemas[name]);
    read.set(name, schema);
    return schema;
  };
}

/** The last part of the address of a tag's page: `task-submissions` for "Task submissions". */
export function slugOf(tag: string): string {
  return tag.toLowerCase().replaceAll(" ", "-");
}

/** The operations in which every word of `text` occurs, whatever its case: in path, summary or description. */
export function found(operations: readonly Operation[], text: string): Operation[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return operations.filter(({ method, path, summary, description, operationId }) => {
    const all = `${method} ${path} ${summary} ${description} ${operationId}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}
