import { createHash } from "node:crypto";
import { dereference, type Schema, validate } from "@cfworker/json-schema";
import { ROUTES } from "../../functions/routes.ts";
import { openApi } from "../../shared/http/openapi.ts";

/** An answer on its way to the caller. */
export interface GivenAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

interface Operation {
  pattern: RegExp;
  path: string;
  name: string;
  responses: Record<
    string,
    { headers?: Record<string, unknown>; content?: Record<string, { schema: Schema; examples?: object }> }
  >;
}

/** The part of an OpenAPI document that says what is answered where. */
export interface Described {
  paths: Record<string, Record<string, Pick<Operation, "responses">>>;
  components: { schemas: Record<string, unknown> };
}

/** What is wrong with an answer by the document, route and place first; null when nothing is. */
export type AnswerCheck = (method: string, path: string, answer: GivenAnswer) => string | null;

/**
 * A check of answers against an OpenAPI document: status, media type, ETag, Location, Idempotency-Replayed and the code of a
 * problem are declared, a 401 has its challenge, and JSON is valid by its schema.
 * What HTTP itself decides is left alone: preflights, and paths and methods that the document does not have.
 */
export function checkAnswers(document: Described): AnswerCheck {
  const lookup = dereference(document);
  const byMethod = new Map<string, Operation[]>();
  for (const [path, item] of Object.entries(document.paths)) {
    const pattern = new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    for (const [method, { responses }] of Object.entries(item)) {
      const operation = { pattern, path, name: `${method.toUpperCase()} ${path}`, responses };
      byMethod.set(method, [...(byMethod.get(method) ?? []), operation]);
    }
  }
  /** Answers that were found to be valid: most come many times. */
  const valid = new Set<string>();
  return (method, path, { status, headers, body }) => {
    const head = method === "HEAD";
    const operations = byMethod.get(head ? "get" : method.toLowerCase()) ?? [];
    // A path without parameters is the one that is meant where two fit, whichever methods it has.
    const isNamed = Object.hasOwn(document.paths, path);
    const operation = operations.find((one) => (isNamed ? one.path === path : one.pattern.test(path)));
    if (operation === undefined) return null;
    const at = `${operation.name}: ${status}`;
    const response = operation.responses[status];
    if (response === undefined) return `${at} is not declared: ${body.toString().slice(0, 200)}`;
    const named = headers["etag"] !== undefined;
    // A page that shows somebody's own things has none, at the same address as the one for everybody.
    const isPage = headers["content-type"]?.startsWith("text/html") === true;
    const isRead = method === "GET" && status === 200 && !isPage;
    if (isRead && response.headers !== undefined && named !== "ETag" in response.headers)
      return `${at} has ${named ? "an" : "no"} ETag, and is declared otherwise`;
    // A place is named wherever one is declared; that an answer was given before is said of some alone.
    const isPlaced = headers["location"] !== undefined;
    if (status < 400 && response.headers !== undefined && isPlaced !== "Location" in response.headers)
      return `${at} has ${isPlaced ? "a" : "no"} Location, and is declared otherwise`;
    if (headers["idempotency-replayed"] !== undefined && !("Idempotency-Replayed" in (response.headers ?? {})))
      return `${at} has Idempotency-Replayed, which is not declared`;
    if (status === 401 && headers["www-authenticate"] === undefined) return `${at} has no WWW-Authenticate`;
    if (response.content === undefined)
      return body.length === 0 ? null : `${at} is declared without a body, and has one`;
    const type = (headers["content-type"] ?? "").split(";", 1)[0] ?? "";
    const declared = response.content[type];
    if (declared === undefined) return `${at} as "${type}" is not declared`;
    if (head || !/[/+]json$/.test(type)) return null;
    const digest = createHash("sha256").update(`${at} ${type}\n`).update(body).digest("base64");
    if (valid.has(digest)) return null;
    const content = parsed(body);
    if (content === undefined) return `${at} is not JSON`;
    const code = type === "application/problem+json" ? (content as { code: string }).code : undefined;
    if (code !== undefined && !(code in (declared.examples ?? {}))) return `${at} \`${code}\` is not declared`;
    const { valid: fits, errors } = validate(content, declared.schema, "2020-12", lookup);
    if (fits) {
      valid.add(digest);
      return null;
    }
    // The outermost finding comes first and says least.
    const deepest = errors.toSorted((a, b) => a.instanceLocation.length - b.instanceLocation.length).at(-1);
    return `${at} at ${deepest?.instanceLocation ?? "#"}: ${deepest?.error ?? "not valid"}`;
  };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    return undefined;
  }
}

let check: AnswerCheck | undefined;

/** The check against the service's own document; put together once for a process. */
export function ownAnswers(): AnswerCheck {
  return (check ??= checkAnswers(JSON.parse(JSON.stringify(openApi(ROUTES, "http://127.0.0.1"))) as Described));
}
