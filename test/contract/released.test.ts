import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CHANGES } from "../../functions/document/changelog.static.ts";
import { changesOf } from "../../functions/document/changes.ts";
import { interfaceDocument } from "../../functions/document/document.ts";
import { broken, promisesOf, readPromises, written } from "../../functions/document/promises.ts";
import { ROUTES } from "../../functions/routes.ts";
import type { OpenApi } from "../../shared/http/openapi.ts";
import { BASE_URL } from "./sealed.ts";

const RELEASED = new URL("../../functions/document/released/interface.txt", import.meta.url);

/** A document of one operation, changed in one thing. */
function documentOf(
  change: {
    sent?: object;
    given?: object;
    /** Another form of the answer, beside Given. */
    also?: object;
    parameters?: object[];
    method?: string;
    status?: string;
  } = {},
) {
  const sent = { type: "object", properties: { name: { type: "string", maxLength: 80 } }, required: ["name"] };
  const given = {
    type: "object",
    properties: { id: { type: "string" }, state: { type: "string", enum: ["a", "b"] } },
    required: ["id"],
  };
  const json = (schema: object) => ({ "application/json": { schema } });
  const answer = { $ref: "#/components/schemas/Given" };
  const operation = {
    parameters: change.parameters ?? [
      { name: "sort", in: "query", required: false, schema: { type: "string", enum: ["up", "down"] } },
    ],
    requestBody: { required: true, content: json({ $ref: "#/components/schemas/Sent" }) },
    responses: {
      [change.status ?? "200"]: {
        content: json(change.also === undefined ? answer : { anyOf: [answer, { $ref: "#/components/schemas/Also" }] }),
      },
    },
  };
  const document = {
    paths: { "/things": { [change.method ?? "post"]: operation } },
    components: {
      schemas: { Sent: { ...sent, ...change.sent }, Given: { ...given, ...change.given }, Also: { ...change.also } },
    },
  };
  return promisesOf(document as unknown as OpenApi);
}

const text = { type: "string" };
const sort = (more: object, schema: object = text) => ({ name: "sort", in: "query", required: false, schema, ...more });
const both = sort({}, { ...text, enum: ["up", "down"] });

describe("a change of the interface", () => {
  test.each<[string, Parameters<typeof documentOf>[0]]>([
    ["an operation that is gone", { method: "put" }],
    ["another status", { status: "201" }],
    ["a parameter that is gone", { parameters: [] }],
    ["a parameter that is needed", { parameters: [both, { ...sort({ name: "q" }), required: true }] }],
    ["a value that is no longer taken", { parameters: [sort({}, { ...text, enum: ["up"] })] }],
    [
      "a field that is needed",
      { sent: { required: ["name", "kind"], properties: { name: { ...text, maxLength: 80 }, kind: text } } },
    ],
    ["a field that is no longer taken", { sent: { properties: {} } }],
    ["a tighter limit", { sent: { properties: { name: { ...text, maxLength: 40 } } } }],
    ["another type of what is sent", { sent: { properties: { name: { type: "integer", maxLength: 80 } } } }],
    ["a field of the answer that is gone", { given: { properties: { id: text } } }],
    ["a field of the answer that may be missing", { given: { required: [] } }],
    ["another form of the answer", { also: { type: "object" } }],
    ["an answer that may be null", { given: { properties: { id: { type: ["string", "null"] }, state: text } } }],
  ])("is refused: %s", (_what, change) => {
    expect(broken(documentOf(), documentOf(change))).not.toEqual([]);
  });

  test.each<[string, Parameters<typeof documentOf>[0]]>([
    ["nothing at all", {}],
    ["a new parameter", { parameters: [both, sort({ name: "q" }, { ...text, maxLength: 9 })] }],
    [
      "another form of the answer for whoever asks by a new parameter",
      { also: { type: "object" }, parameters: [both, sort({ name: "cursor" })] },
    ],
    ["a new value", { parameters: [sort({}, { ...text, enum: ["up", "down", "aside"] })] }],
    [
      "a new field that may be left out",
      { sent: { properties: { name: { ...text, maxLength: 80 }, kind: { ...text, maxLength: 9 } } } },
    ],
    ["a limit that is lifted", { sent: { properties: { name: text } } }],
    ["a field that is no longer needed", { sent: { required: [] } }],
    [
      "a new field of the answer",
      { given: { properties: { id: text, state: text, more: { type: ["integer", "null"] } } } },
    ],
  ])("is fine: %s", (_what, change) => {
    expect(broken(documentOf(), documentOf(change))).toEqual([]);
  });
});

test("a number of an answer may become a whole one, and no whole one any number", () => {
  const [any, whole] = ["number", "integer"].map((type) =>
    documentOf({ given: { properties: { id: text, state: { type } } } }),
  );
  if (any === undefined || whole === undefined) throw new Error("two documents were made");
  expect(broken(any, whole)).toEqual([]);
  expect(broken(whole, any)).not.toEqual([]);
});

describe("what is new is told", () => {
  test.each<[string, Parameters<typeof documentOf>[0], string[]]>([
    ["a parameter", { parameters: [both, sort({ name: "q" }, text)] }, ["operation: q"]],
    ["a value", { parameters: [sort({}, { ...text, enum: ["up", "down", "aside"] })] }, ['operation: sort: "aside"']],
    [
      "a field that may be sent",
      { sent: { properties: { name: { ...text, maxLength: 80 }, kind: text } } },
      ["sent: kind"],
    ],
    ["a field of the answer", { given: { properties: { id: text, state: text, more: text } } }, ["answered: more"]],
    ["nothing where nothing came", {}, []],
    ["nothing where a limit was lifted", { sent: { properties: { name: text } } }, []],
  ])("%s", (_what, change, expected) => {
    const { operations, additions } = changesOf(documentOf(), documentOf(change));
    expect(operations).toEqual([]);
    expect(additions.flatMap(({ kind, added }) => added.map((one) => `${kind}: ${one}`))).toEqual(expected);
  });

  test("with each new operation, and none of an operation that there was", () => {
    const now = promisesOf(JSON.parse(JSON.stringify(interfaceDocument(ROUTES, BASE_URL))) as OpenApi);
    const released = readPromises(readFileSync(RELEASED, "utf8"));
    const calls = ROUTES.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(changesOf(released, now).operations).toEqual(calls.filter((call) => !released.has(call)).toSorted());
    expect(changesOf(now, now)).toEqual({ operations: [], additions: [] });
    expect(CHANGES).toEqual(changesOf(released, now));
  });
});

test("nothing that callers of the released interface rely on is broken", () => {
  const now = promisesOf(JSON.parse(JSON.stringify(interfaceDocument(ROUTES, BASE_URL))) as OpenApi);
  const released = readPromises(readFileSync(RELEASED, "utf8"));
  expect(released.size).toBeGreaterThan(250);
  expect(broken(released, now)).toEqual([]);
  expect(readPromises(written(now))).toEqual(now);
});
