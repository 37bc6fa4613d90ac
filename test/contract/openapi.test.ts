import { Validator } from "@cfworker/json-schema";
import { describe, expect, test } from "vitest";
import { ROUTES } from "../../functions/routes.ts";
import { interfaceDocument } from "../../functions/document/document.ts";
import { problemsOf } from "../../shared/http/route-problems.ts";
import type { Route } from "../../shared/http/route.ts";
import { PROBLEMS } from "../../shared/platform/problem.ts";
import packageJson from "../../package.json" with { type: "json" };
import { type Json, objectsIn } from "./json-schema.ts";
import { BASE_URL } from "./sealed.ts";

type Schema = { [name: string]: Json };

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  schema: Schema;
}

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; headers?: Schema; content?: Record<string, { schema: Schema }> }>;
}

interface Document {
  openapi: string;
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, Schema> };
}

/** The document as it goes over the wire. */
function documentOf(routes: readonly Route[]): Document {
  return JSON.parse(JSON.stringify(interfaceDocument(routes, BASE_URL))) as Document;
}

const document = documentOf(ROUTES);
const { schemas, securitySchemes } = document.components;
const everything = [...objectsIn(document as unknown as Json)];
const references = everything.flatMap(([at, { $ref }]) => (typeof $ref === "string" ? [[at, $ref] as const] : []));
const operations = ROUTES.map((route) => {
  const operation = document.paths[route.path]?.[route.method];
  if (operation === undefined) throw new Error(`${route.id} is not in the document`);
  return [route.id, operation, route] as const;
});

function resolve(reference: string): Json | undefined {
  const tokens = reference.slice(2).split("/");
  return tokens.reduce<Json | undefined>(
    (at, token) => (typeof at === "object" && at !== null && !Array.isArray(at) ? at[token] : undefined),
    document as unknown as Json,
  );
}

describe("the document", () => {
  test("is OpenAPI 3.1.0 of the interface's version, for this service", () => {
    expect(Object.keys(document).toSorted()).toEqual([
      "components",
      "info",
      "openapi",
      "paths",
      "servers",
      "tags",
      "webhooks",
    ]);
    expect(document.openapi).toBe("3.1.0");
    expect(document.info.version).toBe("0.1.153");
    expect(packageJson.version).toBe(document.info.version);
    expect(document.info.title).not.toBe("");
    expect(document.servers).toEqual([{ url: BASE_URL }]);
  });

  test("describes every route once and nothing else", () => {
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    expect(described.toSorted()).toEqual(ROUTES.map(({ method, path }) => `${method} ${path}`).toSorted());
  });

  test("resolves each of its references", () => {
    expect(references.length).toBeGreaterThan(100);
    const places = /^#\/components\/(?:schemas|headers|examples)\//;
    expect(references.filter(([, reference]) => !places.test(reference))).toEqual([]);
    expect(references.filter(([, reference]) => resolve(reference) === undefined)).toEqual([]);
  });

  test("keeps no component that nothing refers to", () => {
    const used = new Set(references.map(([, reference]) => reference.slice("#/components/schemas/".length)));
    expect(Object.keys(schemas).filter((name) => !used.has(name))).toEqual([]);
  });

  test("names its schemas as components may be named, and none by a number of the generator's", () => {
    expect(Object.keys(schemas).filter((name) => !/^[A-Z][A-Za-z0-9]*$/.test(name))).toEqual([]);
  });

  test("names any JSON, and refers to itself nowhere: many generators of clients write no type of that", () => {
    const own = references.filter(([at, reference]) => `${at}/`.startsWith(`${reference.slice(1)}/`));
    expect(own.map(([at]) => at)).toEqual([]);
    const any = new Validator({ ...schemas["JsonValue"], components: document.components }, "2020-12");
    for (const value of [null, true, 1.5, "", [], [[null]], {}, { a: { b: [1, "2", false] } }]) {
      expect({ value, ...any.validate(value) }).toMatchObject({ value, valid: true });
    }
  });

  test("has patterns that mean the same in all languages: no classes of Unicode, which need a flag or are not there", () => {
    const patterns = everything.flatMap(([, { pattern }]) => (typeof pattern === "string" ? [pattern] : []));
    expect(patterns.filter((pattern) => /\\[pP]\{|\(\?[=!<]/.test(pattern))).toEqual([]);
  });

  test("keeps nothing of the generator's or of OpenAPI 3.0: no dialect, definitions, ids or nullable", () => {
    const foreign = ["$schema", "$defs", "$id", "id", "nullable"];
    const leftover = everything.filter(
      ([at, object]) => !/\/properties$|\/(?:example|value)(?:\/|$)/.test(at) && foreign.some((key) => key in object),
    );
    expect(leftover.map(([at]) => at)).toEqual([]);
  });

  test("lists each tag that an operation has, and no other", () => {
    const tags = document.tags.map(({ name }) => name);
    expect(new Set(tags).size).toBe(tags.length);
    expect(tags.toSorted()).toEqual([...new Set(operations.flatMap(([, { tags: own }]) => own))].toSorted());
  });

  test("gives examples that fit their schemas", () => {
    const examples = everything.flatMap(([at, object]) => [
      ...("example" in object && !at.endsWith("/properties") ? [{ at, schema: object, value: object["example"] }] : []),
      ...(Array.isArray(object["examples"]) ? object["examples"].map((value) => ({ at, schema: object, value })) : []),
    ]);
    expect(examples.length).toBeGreaterThan(0);
    const wrong = examples.filter(
      ({ schema, value }) =>
        !new Validator({ ...schema, components: document.components }, "2020-12").validate(value).valid,
    );
    expect(wrong.map(({ at }) => at)).toEqual([]);
  });
});

describe("a schema's name", () => {
  // One half of a route at a time, so that what it takes can't hide behind what it gives.
  const halves = ROUTES.flatMap((route): [string, Route][] => {
    const { body: _body, query: _query, params: _params, ...giving } = route;
    return [
      [`what ${route.id} takes`, { ...route, returns: {} }],
      [`what ${route.id} gives`, giving],
    ];
  });

  test.each(halves)("means in %s what it means everywhere", (_what, half) => {
    for (const [name, schema] of Object.entries(documentOf([half]).components.schemas)) {
      expect({ [name]: schema }).toEqual({ [name]: schemas[name] });
    }
  });
});

describe.each(operations)("the operation %s", (id, operation, route) => {
  test("is named and explained", () => {
    expect(operations.filter(([, { operationId }]) => operationId === operation.operationId).length).toBe(1);
    expect(operation.operationId).toBe(id);
    expect(operation.summary).not.toBe("");
    expect(operation.description).toContain("Callers: ");
    expect(operation.tags).toEqual([route.tag]);
  });

  test("says by which credentials it is called", () => {
    for (const way of operation.security) {
      for (const name of Object.keys(way)) expect(Object.keys(securitySchemes)).toContain(name);
    }
    const optional = operation.security.some((way) => Object.keys(way).length === 0);
    const needs = route.needs !== undefined && route.needs !== "ending";
    const anybody = ["none", "open", "visitor"].includes(route.auth) && !needs;
    expect(operation.security.length === 0 || optional).toBe(anybody);
    expect(operation.security.some((way) => "apiKey" in way)).toBe(
      ["open", "scoped", "read", "write"].includes(route.auth),
    );
  });

  test("has the parameters of its path, all required, and no parameter twice", () => {
    const parameters = operation.parameters ?? [];
    const inPath = parameters.filter((parameter) => parameter.in === "path");
    expect(inPath.map(({ name }) => `{${name}}`)).toEqual(route.path.match(/\{\w+\}/g) ?? []);
    expect(inPath.every(({ required }) => required)).toBe(true);
    const keys = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
    expect(new Set(keys).size).toBe(keys.length);
    for (const parameter of parameters) {
      expect(["path", "query", "header"]).toContain(parameter.in);
      expect(Object.keys(parameter.schema).length).toBeGreaterThan(0);
      // A parameter with a default can be left out.
      if ("default" in parameter.schema) expect(parameter.required).toBe(false);
    }
  });

  test("says of each parameter what it is by default, and which are true or false", () => {
    for (const { name, in: where, schema } of operation.parameters ?? []) {
      const field = route.query?.shape[name];
      if (where !== "query" || field === undefined) continue;
      const byDefault = field.safeParse(undefined).data;
      expect({ name, byDefault: schema["default"] }).toEqual({ name, byDefault });
      const isFlag = field.safeParse("yes").data === true;
      expect({ name, isFlag: [schema["type"]].flat().includes("boolean") }).toEqual({ name, isFlag });
    }
  });

  test("has the body of its route", () => {
    expect(Object.keys(operation.requestBody?.content ?? {})).toEqual(
      route.body === undefined ? [] : ["application/json", ...(route.accepts?.types ?? [])],
    );
    // A body whose every field is optional may be left out.
    const needed = route.body !== undefined && !route.body.safeParse({}).success;
    expect(operation.requestBody?.required ?? false).toBe(needed);
  });

  test("has a response for each status it returns and each problem it declares", () => {
    const isConditional = operation.responses["200"]?.headers?.["ETag"] !== undefined;
    expect(isConditional).toBe(route.method === "get" && route.returns[200] != null && route.streamed !== true);
    const statuses = new Set([
      ...Object.keys(route.returns),
      // Whoever has an answer already that is named by an ETag is told that alone.
      ...(isConditional ? ["304"] : []),
      ...problemsOf(route).map((code) => String(PROBLEMS[code][0])),
    ]);
    expect(Object.keys(operation.responses).toSorted()).toEqual([...statuses].toSorted());
    for (const [status, { description, content }] of Object.entries(operation.responses)) {
      expect(description).not.toBe("");
      // By MCP's standard a notification is answered by a 202 without a body.
      const bodiless = ["204", "302", "304", ...(id === "callMcp" ? ["202"] : [])];
      expect(content === undefined).toBe(bodiless.includes(status));
    }
    for (const code of problemsOf(route)) {
      const [status] = PROBLEMS[code];
      if (route.returns[status] !== undefined) continue;
      const response = operation.responses[status];
      expect(response?.description).toContain(`\`${code}\``);
      // Browsers are shown the problems of a page as pages.
      const page = Object.values(route.returns).some(
        (one) => one !== null && "type" in one && one.type === "text/html",
      );
      expect(response?.content).toEqual({
        "application/problem+json": {
          schema: { $ref: "#/components/schemas/Problem" },
          examples: expect.objectContaining({ [code]: { $ref: `#/components/examples/${code}` } }),
        },
        ...(page ? { "text/html": { schema: { type: "string" }, example: expect.any(String) } } : {}),
      });
    }
  });
});
