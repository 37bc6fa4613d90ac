import * as z from "zod";
import { PROBLEMS, type ProblemCode } from "../platform/problem.ts";
import { REFRESH_COOKIE, SESSION_COOKIE } from "./cookie-names.ts";
import { knownParameters } from "./parameters.ts";
import { ProblemDetails } from "./problem-details.ts";
import type { Needed, Route } from "./route.ts";
import { TAGS } from "./tags.ts";

/** The version of the interface. */
export const API_VERSION = "0.1.153";

type Schema = Record<string, unknown>;

/** What zod makes of a schema: JSON Schema, with the ids that were given by `meta`. */
const Generated = z.looseObject({
  id: z.string().optional(),
  $schema: z.string().optional(),
  $defs: z.record(z.string(), z.looseObject({})).optional(),
});

const SECURITY: Record<Route["auth"], Record<string, string[]>[]> = {
  none: [],
  open: [{}, { session: [] }, { bearer: [] }, { apiKey: [] }],
  session: [{ session: [] }, { bearer: [] }],
  admin: [{ session: [] }, { bearer: [] }],
  read: [{ session: [] }, { bearer: [] }, { apiKey: [] }],
  write: [{ session: [] }, { bearer: [] }, { apiKey: [] }],
};

const CALLERS: Record<Route["auth"], string> = {
  none: "Anybody; no account's credentials are looked at.",
  open: "Anybody; credentials are optional.",
  session: "A session; API keys are refused.",
  admin: "An operator's session.",
  read: "A session, or an API key of scope read or write.",
  write: "A session, or an API key of scope write.",
};

const ACCOUNT = SECURITY.read;

/** The same for endpoints whose handler decides who may call. */
const NEEDED: Record<Needed, { security: Record<string, string[]>[]; callers: string }> = {
  runToken: {
    security: [{ runToken: [] }, ...ACCOUNT],
    callers:
      "The agent, by the run's callback token; or who may change the agent, by a session or an API key of scope write.",
  },
  receiver: { security: [{ receiver: [] }], callers: "The agent, by its receiver token." },
  refresh: { security: [{ refresh: [] }], callers: "A browser that is signed in, by its refresh cookie." },
  signature: { security: [{ signature: [] }], callers: "The payment provider, by its signature." },
};

/** Problems that an endpoint can answer with besides those that it declares: they follow from its declaration. */
function impliedProblems(route: Route): ProblemCode[] {
  const codes: ProblemCode[] = ["internal_error", "dependency_unavailable"];
  if (route.limit !== null) codes.push("rate_limited");
  if (route.auth !== "none") codes.push("unauthenticated", "cross_site_request");
  if (route.auth === "session" || route.auth === "admin") codes.push("session_required");
  if (route.auth === "write") codes.push("insufficient_scope");
  if (route.auth === "admin") codes.push("forbidden");
  const mayHaveBody = route.method !== "get";
  const parsed = mayHaveBody && route.accepts?.asBytes !== true;
  const invalid = route.accepts?.invalid;
  const validated = parsed && invalid === undefined;
  if (route.params !== undefined || route.query !== undefined || validated) codes.push("validation_failed");
  if (knownParameters(route) !== null) codes.push("unrecognized_parameter");
  if (validated) codes.push("unrecognized_field");
  if (parsed) codes.push("malformed_json");
  if (invalid !== undefined) codes.push(invalid);
  if (mayHaveBody) codes.push("payload_too_large", "unsupported_media_type");
  if (route.idempotent === true) codes.push("idempotency_in_progress", "idempotency_key_reused");
  return codes;
}

/** Every problem that an endpoint can answer with. */
export function problemsOf(route: Route): ProblemCode[] {
  return [...new Set([...(route.problems ?? []), ...impliedProblems(route)])];
}

/** The OpenAPI 3.1.0 document of these routes. */
export function openApi(routes: readonly Route[], baseUrl: string): Record<string, unknown> {
  const schemas: Record<string, Schema> = {};
  const paths: Record<string, Record<string, unknown>> = {};
  const problem = toSchema(ProblemDetails, "output", schemas);
  for (const route of routes) {
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

function operation(route: Route, schemas: Record<string, Schema>, problem: Schema): Record<string, unknown> {
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
    description: [route.description, `Callers: ${needed?.callers ?? CALLERS[route.auth]}`]
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

function parametersOf(where: "path" | "query", schema: z.ZodObject | undefined, schemas: Record<string, Schema>) {
  return Object.entries(schema?.shape ?? {}).map(([name, field]) => {
    const { description, ...json } = toSchema(field, "input", schemas);
    const required = where === "path";
    return { name, in: where, required, ...(description === undefined ? {} : { description }), schema: json };
  });
}

interface Response {
  description: string;
  content?: Record<string, { schema: Schema }>;
}

const JSON_TYPE = /[/+]json$/;
const TEXT = { type: "string" };

/** Every answer of an endpoint by status. Where a problem has a status that is also declared, both are described. */
function responses(route: Route, schemas: Record<string, Schema>, problem: Schema): Record<string, Response> {
  const found = new Map(Object.keys(route.returns).map((status) => [status, success(route, Number(status), schemas)]));
  const byStatus = Map.groupBy(problemsOf(route), (code) => String(PROBLEMS[code][0]));
  for (const [status, codes] of byStatus) {
    const own = found.get(status);
    const description = codes.map((code) => `\`${code}\`: ${PROBLEMS[code][1]}`).join("\n");
    const content = {
      "application/problem+json": { schema: problem },
      // A browser is shown what is wrong as a page, where it asked for one.
      ...(!isPage(route) ? {} : { "text/html": { schema: TEXT } }),
    };
    found.set(status, {
      description: own === undefined ? description : `${own.description}\n${description}`,
      content: { ...own?.content, ...content },
    });
  }
  return Object.fromEntries(found);
}

function isPage({ returns }: Route): boolean {
  return Object.values(returns).some((one) => one !== null && "type" in one && one.type === "text/html");
}

function success(route: Route, status: number, schemas: Record<string, Schema>): Response {
  const returned = route.returns[status];
  if (returned == null) return { description: "Done" };
  if (!("parse" in returned)) {
    const schema = JSON_TYPE.test(returned.type) ? { type: "object" } : TEXT;
    return { description: returned.description, content: { [returned.type]: { schema } } };
  }
  const schema = toSchema(returned, "output", schemas);
  const types = ["application/json", ...(route.mediaTypes ?? [])];
  return {
    description: status < 400 ? "OK" : "Not OK",
    content: Object.fromEntries(types.map((type) => [type, { schema: JSON_TYPE.test(type) ? schema : TEXT }])),
  };
}

/** zod's name for `z.json()`, the only recursive schema without an id; it is numbered anew in each call. */
const UNNAMED = /__schema\d+/g;

/** The JSON Schema of a zod schema; each schema with an id moves to the components and is referred to there. */
function toSchema(schema: z.ZodType, io: "input" | "output", schemas: Record<string, Schema>): Schema {
  const generated = JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: "any", target: "draft-2020-12" }));
  const json = Generated.parse(JSON.parse(generated.replaceAll(UNNAMED, "JsonValue")));
  const { $schema: _dialect, $defs = {}, ...root } = json;
  for (const [name, definition] of Object.entries($defs)) schemas[name] ??= moved(definition);
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
