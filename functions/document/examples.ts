import type { OpenApi, Operation } from "../../shared/http/openapi.ts";
import type { Media } from "../../shared/http/openapi-responses.ts";
import { isNode } from "./describe.ts";
import { ANSWERS, QUERIES, REQUESTS, TEXTS } from "./given.ts";
import { type Making, sampleOf } from "./sample.ts";

function exemplify(content: Record<string, Media>, given: unknown, id: string, making: Making): void {
  for (const [type, media] of Object.entries(content)) {
    if (media.examples !== undefined) continue;
    media.example = TEXTS[type] ?? given ?? sampleOf(media.schema, [id], making);
  }
}

/** Gives each parameter that a request can't go without its example, and those that `QUERIES` has. */
function exemplifyParameters({ operationId: id, parameters = [] }: Operation, path: string, making: Making): void {
  for (const parameter of parameters) {
    const { name, in: where, required, schema } = parameter;
    const given = where === "query" ? QUERIES[id]?.[String(name)] : undefined;
    if (given !== undefined) parameter["example"] = given;
    else if (required === true && isNode(schema)) {
      const [before = ""] = path.split(`/{${String(name)}}`);
      parameter["example"] = sampleOf(schema, [before.split("/").at(-1) ?? "", String(name)], making);
    }
  }
}

/** Gives each request and answer of an operation its example: the one that was written for it, else one of its schema. */
export function exemplifyOperation(operation: Operation, path: string, schemas: Making["schemas"]): void {
  const { operationId: id, requestBody, responses } = operation;
  exemplifyParameters(operation, path, { schemas, sends: true });
  if (requestBody !== undefined) exemplify(requestBody.content, REQUESTS[id], id, { schemas, sends: true });
  for (const [status, { content }] of Object.entries(responses)) {
    if (content !== undefined)
      exemplify(content, status < "300" ? ANSWERS[id] : undefined, id, { schemas, sends: false });
  }
}

/** The same for all operations of the document, and for what the service sends to others. */
export function exemplifyAll({ paths, components, webhooks }: OpenApi): void {
  for (const [path, methods] of [...Object.entries(paths), ...Object.entries(webhooks ?? {})]) {
    for (const operation of Object.values(methods)) exemplifyOperation(operation, path, components.schemas);
  }
}
