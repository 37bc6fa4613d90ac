import type { OpenApi, Operation } from "../../shared/http/openapi.ts";
import type { Media } from "../../shared/http/openapi-responses.ts";
import { ANSWERS, REQUESTS, TEXTS } from "./given.ts";
import { type Making, sampleOf } from "./sample.ts";

function exemplify(content: Record<string, Media>, given: unknown, id: string, making: Making): void {
  for (const [type, media] of Object.entries(content)) {
    if (media.examples !== undefined) continue;
    media.example = TEXTS[type] ?? given ?? sampleOf(media.schema, [id], making);
  }
}

/** Gives each request and answer of an operation its example: the one that was written for it, else one of its schema. */
export function exemplifyOperation(operation: Operation, schemas: Making["schemas"]): void {
  const { operationId: id, requestBody, responses } = operation;
  if (requestBody !== undefined) exemplify(requestBody.content, REQUESTS[id], id, { schemas, sends: true });
  for (const [status, { content }] of Object.entries(responses)) {
    if (content !== undefined)
      exemplify(content, status < "300" ? ANSWERS[id] : undefined, id, { schemas, sends: false });
  }
}

/** The same for all operations of the document, and for what the service sends to others. */
export function exemplifyAll({ paths, components, webhooks }: OpenApi): void {
  for (const methods of [...Object.values(paths), ...Object.values(webhooks ?? {})]) {
    for (const operation of Object.values(methods)) exemplifyOperation(operation, components.schemas);
  }
}
