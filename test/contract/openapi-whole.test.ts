import { dereference, type Schema, validate } from "@cfworker/json-schema";
import { describe, expect, test } from "vitest";
import { wordFor } from "../../functions/document/describe.ts";
import { interfaceDocument } from "../../functions/document/document.ts";
import { ANSWERS, REQUESTS, TEXTS } from "../../functions/document/given.ts";
import { PARAMETERS } from "../../functions/document/words/parameters.ts";
import { WORDS } from "../../functions/document/words/words.ts";
import { ROUTES } from "../../functions/routes.ts";
import { HEADERS } from "../../shared/http/openapi-headers.ts";
import { problemsOf } from "../../shared/http/route-problems.ts";
import { EVENT_TYPES } from "../../shared/webhooks/event.ts";
import { type Json, objectsIn } from "./json-schema.ts";
import { BASE_URL } from "./sealed.ts";

interface Media {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { $ref: string }>;
}
interface Operation {
  operationId: string;
  description: string;
  parameters?: { name: string; description?: string; schema: Json }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { headers?: Record<string, { $ref: string }>; content?: Record<string, Media> }>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json>; examples: Record<string, { value: unknown }> };
}

const document = JSON.parse(JSON.stringify(interfaceDocument(ROUTES, BASE_URL))) as Document;
const operations = [...Object.values(document.paths), ...Object.values(document.webhooks)].flatMap((one) =>
  Object.values(one),
);
const bodies = operations.flatMap(({ operationId, requestBody, responses }) => [
  ...Object.entries(requestBody?.content ?? {}).map(([type, media]) => ({ at: `${operationId} takes ${type}`, media })),
  ...Object.entries(responses).flatMap(([status, { content }]) =>
    Object.entries(content ?? {}).map(([type, media]) => ({ at: `${operationId} gives ${status} ${type}`, media })),
  ),
]);
const examples = bodies.map(({ at, media: { schema, example, examples: codes = {} } }) => ({
  at,
  schema,
  example,
  codes: Object.keys(codes),
}));
const problems = document.components.examples;
// What is dereferenced may have no examples: the ids in them would be taken for those of schemas.
for (const { media } of bodies) delete media.example;
const lookup = dereference({ ...document, components: { schemas: document.components.schemas } });

/** What is wrong with a value by a schema of the document; none where it fits. */
function faults(value: unknown, schema: Schema): string[] {
  const { valid, errors } = validate(value, schema, "2020-12", lookup);
  return valid ? [] : [`${errors.at(-1)?.instanceLocation} ${errors.at(-1)?.error}`];
}

/** Every property of a schema, with the names that lead to it, as words are looked up by. */
function* properties(node: Json, way: string[]): Generator<[string[], { [name: string]: Json }]> {
  if (typeof node !== "object" || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    if (key !== "properties" || Array.isArray(node)) {
      yield* properties(value, way);
      continue;
    }
    for (const [name, property] of Object.entries(value as { [name: string]: Json })) {
      yield [[...way, name], property as { [name: string]: Json }];
      yield* properties(property, [...way, name]);
    }
  }
}

const named = Object.entries(document.components.schemas).flatMap(([name, schema]) => [...properties(schema, [name])]);

describe("the document says", () => {
  test("what each property means", () => {
    const silent = [...objectsIn(document as unknown as Json)].flatMap(([at, { properties: own }]) =>
      typeof own !== "object" || own === null
        ? []
        : Object.entries(own).flatMap(([name, property]) =>
            (property as { description?: string }).description === undefined ? [`${at}: ${name}`] : [],
          ),
    );
    expect(silent).toEqual([]);
  });

  test("durations in whole milliseconds, wherever they are told or asked for", () => {
    const durations = [...properties(document as unknown as Json, [])].filter(([way]) => way.at(-1)?.endsWith("_ms"));
    const parameters = operations.flatMap((one) => one.parameters ?? []).filter(({ name }) => name.endsWith("_ms"));
    const schemas = [...durations, ...parameters.map(({ name, schema }) => [[name], schema] as const)];
    const types = (schema: Json): Json[] =>
      [...objectsIn(schema)].flatMap(([, { type }]) => (Array.isArray(type) ? type : type === undefined ? [] : [type]));
    const others = schemas.filter(([, schema]) => types(schema).find((type) => type !== "null") !== "integer");
    expect(others.map(([way]) => way.join("."))).toEqual([]);
    expect(durations.length).toBeGreaterThan(15);
  });

  test("what each parameter means, and each operation more than its name", () => {
    const silent = operations.flatMap(({ operationId, parameters = [] }) =>
      parameters.filter(({ description }) => description === undefined).map(({ name }) => `${operationId}: ${name}`),
    );
    expect(silent).toEqual([]);
    expect(operations.filter(({ description }) => !description.includes("Callers: "))).toEqual([]);
  });

  test("no word in vain", () => {
    const ways = new Set(
      named.flatMap(([way]) => way.map((_name, from) => way.slice(from).join("."))).filter((way) => way in WORDS),
    );
    for (const { operationId, responses } of operations) {
      for (const [way] of properties(responses as unknown as Json, [operationId])) {
        for (const [from] of way.entries()) ways.add(way.slice(from).join("."));
      }
    }
    expect(Object.keys(WORDS).filter((word) => !ways.has(word))).toEqual([]);
    const parameters = new Set(operations.flatMap((one) => one.parameters ?? []).map(({ description }) => description));
    expect(Object.values(PARAMETERS).filter((word) => !parameters.has(word))).toEqual([]);
    expect(wordFor(["Nowhere", "unheard_of"])).toBeUndefined();
  });

  test("by which headers each answer is told from others", () => {
    for (const { operationId, responses } of Object.values(document.paths).flatMap((one) => Object.values(one))) {
      for (const [status, { headers = {} }] of Object.entries(responses)) {
        expect(Object.keys(headers), `${operationId} ${status}`).toContain("X-Request-Id");
        if (status === "429") expect(Object.keys(headers), operationId).toContain("Retry-After");
        if (status === "401") expect(Object.keys(headers), operationId).toContain("WWW-Authenticate");
      }
    }
    const used = new Set([...objectsIn(document as unknown as Json)].map(([, { $ref }]) => $ref));
    expect(Object.keys(HEADERS).filter((name) => !used.has(`#/components/headers/${name}`))).toEqual([]);
  });

  test("what subscribers are sent for each event, and agents for each task", () => {
    expect(Object.keys(document.webhooks).toSorted()).toEqual([...EVENT_TYPES, "ping", "agent.task"].toSorted());
  });
});

describe("examples", () => {
  test("are there for each request and each answer that has a body", () => {
    const bare = examples.filter(({ example, codes }) => example === undefined && codes.length === 0);
    expect(bare.map(({ at }) => at)).toEqual([]);
  });

  test("fit their schemas", () => {
    const wrong = examples.flatMap(({ at, schema, example, codes }) =>
      codes.length > 0 ? [] : faults(example, schema).map((fault) => `${at}: ${fault}`),
    );
    expect(wrong).toEqual([]);
    const Problem = document.components.schemas["Problem"] as Schema;
    for (const [code, { value }] of Object.entries(problems))
      expect([code, faults(value, Problem)]).toEqual([code, []]);
  });

  test("of runs do not contradict themselves, and those of submissions are not over yet", () => {
    type Run = Record<string, unknown> & { id: string };
    const runsIn = (value: unknown): Run[] => {
      if (typeof value !== "object" || value === null) return [];
      const own = "evidence_cost_source" in value && "id" in value ? [value as Run] : [];
      return [...own, ...Object.values(value).flatMap(runsIn)];
    };
    const all = examples.flatMap(({ at, example }) => runsIn(example).map((run) => ({ at, run })));
    expect(all.length).toBeGreaterThan(5);
    for (const { at, run } of all) {
      const { scope, team_id, evidence_priced_call_count: priced, evidence_unpriced_call_count: unpriced } = run;
      expect([at, scope === "personal", run["evidence_cost_partial"]]).toEqual([
        at,
        team_id === null,
        Number(unpriced) > 0,
      ]);
      expect([at, run["evidence_total_call_count"]]).toEqual([at, Number(priced) + Number(unpriced)]);
      if (/^(?:createBatch|rerunScreeningSession) /.test(at)) expect([at, run["status"]]).toEqual([at, "queued"]);
    }
  });

  test("of requests are taken by the endpoints themselves", () => {
    const refused = ROUTES.flatMap(({ id, body, accepts }) => {
      if (body === undefined || accepts?.asBytes === true) return [];
      const { example } = examples.find(({ at }) => at === `${id} takes application/json`) ?? {};
      const result = body.safeParse(example);
      return result.success
        ? []
        : [`${id}: ${result.error.issues.map((one) => `${one.path.join("/")} ${one.message}`).join("; ")}`];
    });
    expect(refused).toEqual([]);
  });

  test("of problems are one for each code that an operation answers with", () => {
    const codes = new Set(ROUTES.flatMap(problemsOf));
    expect(new Set(Object.keys(problems))).toEqual(codes);
    expect(new Set(examples.flatMap((one) => one.codes))).toEqual(codes);
  });

  test("are written for operations and media types that there are", () => {
    const ids = new Set(ROUTES.map(({ id }) => id));
    expect([...Object.keys(REQUESTS), ...Object.keys(ANSWERS)].filter((id) => !ids.has(id))).toEqual([]);
    const types = new Set(bodies.map(({ at }) => at.split(" ").at(-1) ?? ""));
    expect(Object.keys(TEXTS).filter((type) => !types.has(type))).toEqual([]);
  });
});
