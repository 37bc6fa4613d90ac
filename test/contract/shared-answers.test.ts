import { describe, expect, test } from "vitest";
import { interfaceDocument } from "../../functions/document/document.ts";
import { withSharedAnswers } from "../../functions/document/shared-answers.ts";
import { DOCUMENT } from "../../functions/openapi-document.static.ts";
import { ROUTES } from "../../functions/routes.ts";
import { type Json, objectsIn } from "./json-schema.ts";
import { BASE_URL } from "./sealed.ts";

const REFERENCE = /^#\/components\/responses\/([a-z0-9_-]+)$/;

interface Answer {
  $ref?: string;
}
interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Answer> }>>;
  components: { responses?: Record<string, Answer> };
}

const whole = JSON.parse(JSON.stringify(interfaceDocument(ROUTES, BASE_URL))) as Document;
const published = JSON.parse(JSON.stringify(withSharedAnswers(interfaceDocument(ROUTES, BASE_URL)))) as Document;
const components = published.components.responses ?? {};

const answersOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.entries(responses).map(([status, answer]) => ({ at: `${method} ${path} ${status}`, status, answer })),
    ),
  );

/** What an answer is, wherever the document says it. */
const meant = ({ $ref, ...answer }: Answer): Answer | undefined =>
  $ref === undefined ? answer : components[REFERENCE.exec($ref)?.[1] ?? ""];

describe("the document that is published", () => {
  test("says all that the whole one says", () => {
    const said = answersOf(published).map(({ at, answer }) => [at, meant(answer)]);
    expect(said).toEqual(answersOf(whole).map(({ at, answer }) => [at, answer]));
    const { responses: _responses, ...others } = published.components;
    expect({ ...published, paths: {}, components: others }).toEqual({ ...whole, paths: {} });
  });

  test("says no refusal and no 304 twice, and has none that nobody answers with", () => {
    const refusals = answersOf(published).filter(({ status }) => status === "304" || status >= "400");
    const inline = refusals.filter(({ answer }) => answer.$ref === undefined).map(({ answer }) => answer);
    const texts = [...inline, ...Object.values(components)].map((answer) => JSON.stringify(answer));
    expect(new Set(texts).size).toBe(texts.length);
    const used = new Set([...objectsIn(published.paths as unknown as Json)].map(([, { $ref }]) => $ref));
    expect(Object.keys(components).filter((name) => !used.has(`#/components/responses/${name}`))).toEqual([]);
  });

  test("names a refusal by its codes", () => {
    const { description } = components["unauthenticated"] as unknown as { description: string };
    expect(description).toBe("`unauthenticated`: Credentials are needed");
    expect(Object.keys(components).filter((name) => name.startsWith("other"))).toEqual([]);
  });

  test("takes less than 800 KB, since whoever makes a client loads it", () => {
    expect(DOCUMENT.length).toBeLessThan(800_000);
    expect(Object.keys(JSON.parse(DOCUMENT).components.responses)).toEqual(Object.keys(components));
  });
});
