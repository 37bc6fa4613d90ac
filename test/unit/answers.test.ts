import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { checkAnswers, type Described } from "../stack/answers.ts";

const item = {
  type: "object",
  properties: {
    id: { type: "string", format: "uuid" },
    parent: { anyOf: [{ $ref: "#/components/schemas/Item" }, { type: "null" }] },
  },
  required: ["id", "parent"],
  additionalProperties: false,
};
const json = { content: { "application/json": { schema: { $ref: "#/components/schemas/Item" } } } };
const problem = (codes: string[]) => ({
  content: {
    "application/problem+json": {
      schema: { type: "object" },
      examples: Object.fromEntries(codes.map((code) => [code, {}])),
    },
  },
});
const check = checkAnswers({
  paths: {
    "/items/{id}": {
      get: {
        responses: {
          "200": json,
          "401": problem(["unauthenticated"]),
          "404": problem(["not_found"]),
        },
      },
      delete: { responses: { "204": {} } },
      post: { responses: { "201": { ...json, headers: { Location: {} } }, "200": { ...json, headers: {} } } },
    },
    "/items/latest": {
      get: { responses: { "200": { content: { "text/plain": { schema: { type: "string" } } } }, "304": {} } },
    },
  },
  components: { schemas: { Item: item } },
} as unknown as Described);

const ID = "01938e7a-0000-7000-8000-000000000009";
const answer = (status: number, type: string | null, body: unknown) => ({
  status,
  headers: type === null ? {} : { "content-type": type },
  body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
});
const withHeaders = (status: number, headers: Record<string, string>) => {
  const given = answer(status, "application/json", { id: ID, parent: null });
  return { ...given, headers: { ...given.headers, ...headers } };
};
const good = answer(200, "application/json", { id: ID, parent: { id: ID, parent: null } });

describe("an answer as the document says", () => {
  it.each([
    ["JSON by its schema", "GET", "/items/1", good],
    [
      "a media type with a parameter",
      "GET",
      "/items/1",
      answer(200, "application/json; charset=utf-8", { id: ID, parent: null }),
    ],
    ["a declared problem", "GET", "/items/1", answer(404, "application/problem+json", { code: "not_found" })],
    ["no body where none is declared", "DELETE", "/items/1", answer(204, null, "")],
    ["the path without parameters before the one with", "GET", "/items/latest", answer(200, "text/plain", "x")],
    ["HEAD, which has no body", "HEAD", "/items/1", answer(200, "application/json", "")],
    ["a declared 304", "GET", "/items/latest", answer(304, null, "")],
    ["a path that is not described", "GET", "/queues/score", answer(489, "text/plain", "x")],
    ["a method that another path alone has", "DELETE", "/items/latest", answer(405, "application/problem+json", {})],
    ["a declared Location", "POST", "/items/1", withHeaders(201, { location: "/items/2" })],
    ["a method that is not described", "PUT", "/items/1", answer(405, "application/problem+json", {})],
  ])("has nothing wrong: %s", (_what, method, path, given) => {
    expect(check(method, path, given)).toBeNull();
  });
});

describe("an answer that is not as the document says", () => {
  it.each([
    ["GET", "/items/1", answer(500, "application/problem+json", {}), "GET /items/{id}: 500 is not declared: {}"],
    [
      "GET",
      "/items/1",
      answer(404, "application/problem+json", { code: "gone" }),
      "GET /items/{id}: 404 `gone` is not declared",
    ],
    [
      "GET",
      "/items/1",
      answer(401, "application/problem+json", { code: "unauthenticated" }),
      "GET /items/{id}: 401 has no WWW-Authenticate",
    ],
    ["GET", "/items/1", answer(304, null, ""), "GET /items/{id}: 304 is not declared: "],
    ["GET", "/items/1", answer(200, "text/html", "x"), 'GET /items/{id}: 200 as "text/html" is not declared'],
    ["HEAD", "/items/1", answer(200, null, ""), 'GET /items/{id}: 200 as "" is not declared'],
    ["DELETE", "/items/1", answer(204, null, "x"), "DELETE /items/{id}: 204 is declared without a body, and has one"],
    ["GET", "/items/1", answer(200, "application/json", { id: ID }), /^GET \/items\/\{id\}: 200 at #: .*parent/],
    [
      "GET",
      "/items/1",
      answer(200, "application/json", { id: ID, parent: null, more: 1 }),
      /^GET \/items\/\{id\}: 200 at #.*more/,
    ],
    [
      "GET",
      "/items/1",
      answer(200, "application/json", { id: "x", parent: null }),
      /^GET \/items\/\{id\}: 200 at #\/id: .*uuid/,
    ],
    [
      "GET",
      "/items/1",
      answer(200, "application/json", { id: ID, parent: { id: "x", parent: null } }),
      /200 at #\/parent\/id: .*uuid/,
    ],
    ["POST", "/items/1", withHeaders(201, {}), "POST /items/{id}: 201 has no Location, and is declared otherwise"],
    [
      "POST",
      "/items/1",
      withHeaders(200, { location: "/" }),
      "POST /items/{id}: 200 has a Location, and is declared otherwise",
    ],
    [
      "POST",
      "/items/1",
      withHeaders(200, { "idempotency-replayed": "true" }),
      "POST /items/{id}: 200 has Idempotency-Replayed, which is not declared",
    ],
    ["GET", "/items/1", answer(200, "application/json", "{"), "GET /items/{id}: 200 is not JSON"],
  ])("is told by route, status and place: %s %s %o", (method, path, given, violation) => {
    expect(check(method, path, given)).toMatch(violation);
  });
});
