import type * as z from "zod";
import { FIRST_STEP_COOKIE, REFRESH_COOKIE, SESSION_COOKIE } from "./cookie-names.ts";
import { HEADERS } from "./openapi-headers.ts";
import { type Answer, type Media, responses } from "./openapi-responses.ts";
import { type Schema, toSchema } from "./openapi-schema.ts";
import { namesFirst } from "./order.ts";
import { ProblemDetails } from "./problem-details.ts";
import { type Needed, type Route, scopeOf } from "./route.ts";
import { TAGS } from "./tags.ts";

/** The version of the interface. */
export const API_VERSION = "0.1.153";

const SECURITY: Record<Route["auth"], Record<string, string[]>[]> = {
  none: [],
  open: [{}, { session: [] }, { bearer: [] }, { apiKey: [] }],
  visitor: [{}, { session: [] }],
  session: [{ session: [] }, { bearer: [] }],
  scoped: [{ session: [] }, { bearer: [] }, { apiKey: [] }],
  admin: [{ session: [] }, { bearer: [] }],
  read: [{ session: [] }, { bearer: [] }, { apiKey: [] }],
  write: [{ session: [] }, { bearer: [] }, { apiKey: [] }],
};

const CALLERS: Record<Route["auth"], string> = {
  none: "Anybody; no account's credentials are looked at.",
  open: "Anybody; credentials are optional.",
  visitor: "Anybody; the cookie of a session is optional, and no other credentials are looked at.",
  session: "A session; API keys are refused.",
  admin: "An operator's session.",
  scoped: "A session, or an API key.",
  read: "A session, or an API key.",
  write: "A session, or an API key.",
};

function callersOf(route: Route): string {
  const scope = scopeOf(route);
  if (scope === null) return CALLERS[route.auth];
  const named = route.auth === "scoped" ? "be made with `scopes` that name" : "have the scope";
  return `${CALLERS[route.auth]} An API key has to ${named} \`${scope}\`.`;
}

const ACCOUNT = SECURITY.read;

/** The same for endpoints whose handler decides who may call. */
const NEEDED: Record<Needed, { security: Record<string, string[]>[]; callers: string }> = {
  runToken: {
    security: [{ runToken: [] }, ...ACCOUNT],
    callers:
      "The agent, by the run's callback token; or who may change the agent, by a session or an API key with the scope `runs:write`.",
  },
  receiver: { security: [{ receiver: [] }], callers: "The agent, by its receiver token." },
  refresh: { security: [{ refresh: [] }], callers: "A browser that is signed in, by its refresh cookie." },
  firstStep: { security: [{ firstStep: [] }], callers: "Whoever has begun to sign in, by the cookie of it." },
  ending: {
    security: [...SECURITY.session, {}],
    callers: "A session, even one whose access token has expired; with none there is nothing to end.",
  },
  signature: { security: [{ signature: [] }], callers: "The payment provider, by its signature." },
};

/** One operation of the document. */
export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters?: Record<string, unknown>[];
  requestBody?: { required: boolean; content: Record<string, Media> };
  responses: Record<string, Answer>;
}

/** The document, as far as others add to it. */
export interface OpenApi {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  /** What the service sends to others. */
  webhooks?: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; [kind: string]: Record<string, unknown> };
  [part: string]: unknown;
}

/** The OpenAPI 3.1.0 document of these routes; answers refer to `components.examples`, which its caller adds. */
export function openApi(routes: readonly Route[], baseUrl: string): OpenApi {
  const schemas: Record<string, Schema> = {};
  const paths: OpenApi["paths"] = {};
  const problem = toSchema(ProblemDetails, "output", schemas);
  // By path, in whichever file a route stands: a reader finds what belongs together in one place.
  for (const route of namesFirst(routes)) {
    (paths[route.path] ??= {})[route.method] = operation(route, schemas, problem);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Agent Screening and Credential Service",
      version: API_VERSION,
      description:
        "Screens AI agents with benchmark tasks, scores success 40, reliability 30 and cost 30, signs the evidence and " +
        "ranks agents on a public board. Times are ISO 8601 in UTC, durations milliseconds, money US dollars. Errors are " +
        "RFC 9457 problems with a stable `code`. Unknown query parameters are refused.",
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
    },
    servers: [{ url: baseUrl }],
    tags: [...new Set(routes.map(({ tag }) => tag))].toSorted().map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1))),
      headers: HEADERS,
      securitySchemes: {
        session: {
          type: "apiKey",
          in: "cookie",
          name: SESSION_COOKIE,
          description: "The access token that registering, signing in and refreshing set",
        },
        bearer: { type: "http", scheme: "bearer", description: "An access token, or an API key" },
        apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "A key that starts with ask_" },
        runToken: {
          type: "http",
          scheme: "bearer",
          description: "The callback token in a run's request, run_…",
        },
        receiver: { type: "http", scheme: "bearer", description: "An agent's telemetry token, otlp_…" },
        refresh: {
          type: "apiKey",
          in: "cookie",
          name: REFRESH_COOKIE,
          description: "The refresh credential that registering, signing in and refreshing set",
        },
        firstStep: {
          type: "apiKey",
          in: "cookie",
          name: FIRST_STEP_COOKIE,
          description: "What a sign-in that wants a second factor set",
        },
        signature: {
          type: "apiKey",
          in: "header",
          name: "Stripe-Signature",
          description: "The provider's signature over the time and the body",
        },
      },
    },
  };
}

function operation(route: Route, schemas: Record<string, Schema>, problem: Schema): Operation {
  const { body } = route;
  const needed = route.needs === undefined ? undefined : NEEDED[route.needs];
  const parameters = [
    ...parametersOf("path", route.params, schemas),
    ...parametersOf("query", route.query, schemas),
    ...(route.idempotent === true
      ? [
          {
            name: "Idempotency-Key",
            in: "header",
            required: false,
            description:
              "1 to 255 visible ASCII characters; a repeated request gets the first result for 24 hours. Use a random key, " +
              "such as a UUID: without an account it is bound only to the address and to what the client says of itself.",
            schema: { type: "string", minLength: 1, maxLength: 255 },
          },
        ]
      : []),
  ];
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, `Callers: ${needed?.callers ?? callersOf(route)}`]
      .filter((text) => text !== undefined)
      .join("\n\n"),
    security: needed?.security ?? SECURITY[route.auth],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !body.safeParse({}).success,
            content: Object.fromEntries(
              ["application/json", ...(route.accepts?.types ?? [])].map((type) => [
                type,
                { schema: toSchema(body, "input", schemas) },
              ]),
            ),
          },
        }),
    responses: responses(route, schemas, problem),
  };
}

/** A parameter as it is sent; one of true or false with its meaning and its default, which zod leaves out of what is text. */
function parameterSchema(field: z.ZodType, schemas: Record<string, Schema>): Schema {
  const sent = toSchema(field, "input", schemas);
  const read = sent["type"] === "string" ? toSchema(field, "output", schemas) : sent;
  return read["type"] === "boolean" ? { ...read, type: ["boolean", "string"] } : sent;
}

function parametersOf(
  where: "path" | "query",
  schema: z.ZodObject | undefined,
  schemas: Record<string, Schema>,
): Record<string, unknown>[] {
  return Object.entries(schema?.shape ?? {}).map(([name, field]) => {
    const { description, ...json } = parameterSchema(field, schemas);
    const required = where === "path" || !field.safeParse(undefined).success;
    return { name, in: where, required, ...(description === undefined ? {} : { description }), schema: json };
  });
}
