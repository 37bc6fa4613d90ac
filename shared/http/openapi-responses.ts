import * as z from "zod";
import { PROBLEMS } from "../platform/problem.ts";
import { headersOf } from "./openapi-headers.ts";
import { type Schema, toSchema } from "./openapi-schema.ts";
import type { Route } from "./route.ts";
import { problemsOf } from "./route-problems.ts";

/** What one media type of a body holds; `examples` refers to components, by the codes of problems. */
export interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, unknown>;
}

/** One answer of an operation. */
export interface Answer {
  description: string;
  headers?: Record<string, { $ref: string }>;
  content?: Record<string, Media>;
}

const JSON_TYPE = /[/+]json$/;
const TEXT = { type: "string" };

/** Every answer of an endpoint by status. Where a problem has a status that is also declared, both are described. */
export function responses(route: Route, schemas: Record<string, Schema>, problem: Schema): Record<string, Answer> {
  const found = new Map(Object.keys(route.returns).map((status) => [status, success(route, Number(status), schemas)]));
  if (isConditional(route)) {
    const description = "The caller has this version already: `If-None-Match` names its `ETag`";
    found.set("304", { description, headers: headersOf(route, 304, { paged: false }) });
  }
  const byStatus = Map.groupBy(problemsOf(route), (code) => String(PROBLEMS[code][0]));
  for (const [status, codes] of byStatus) {
    const own = found.get(status);
    const description = codes.map((code) => `\`${code}\`: ${PROBLEMS[code][1]}`).join("\n");
    const content = {
      "application/problem+json": {
        schema: problem,
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
      // A browser is shown what is wrong as a page, where it asked for one.
      ...(!isPage(route) ? {} : { "text/html": { schema: TEXT } }),
    };
    found.set(status, {
      description: own === undefined ? description : `${own.description}\n${description}`,
      headers: { ...headersOf(route, Number(status), { paged: false }), ...own?.headers },
      content: { ...own?.content, ...content },
    });
  }
  return Object.fromEntries(found);
}

function isPage({ returns }: Route): boolean {
  return Object.values(returns).some((one) => one !== null && "type" in one && one.type === "text/html");
}

/** Whether its answers carry an ETag, and so need not be sent again to whoever has them. */
function isConditional(route: Route): boolean {
  return route.returns[200] != null && "ETag" in headersOf(route, 200, { paged: false });
}

function success(route: Route, status: number, schemas: Record<string, Schema>): Answer {
  const returned = route.returns[status];
  const plain = { headers: headersOf(route, status, { paged: false }) };
  if (returned == null) return { description: "Done", ...plain };
  if (!("parse" in returned)) {
    const schema = JSON_TYPE.test(returned.type) ? { type: "object" } : TEXT;
    return { description: returned.description, ...plain, content: { [returned.type]: { schema } } };
  }
  const schema = toSchema(returned, "output", schemas);
  const types = ["application/json", ...(route.mediaTypes ?? [])];
  return {
    description: status < 400 ? "OK" : "Not OK",
    headers: headersOf(route, status, { paged: isPaged(returned) }),
    content: Object.fromEntries(types.map((type) => [type, { schema: JSON_TYPE.test(type) ? schema : TEXT }])),
  };
}

function isPaged(returned: z.ZodType): boolean {
  return returned instanceof z.ZodObject && "page_size" in returned.shape && "total" in returned.shape;
}
