import type { OpenApi } from "../../shared/http/openapi.ts";
import type { Schema } from "../../shared/http/openapi-schema.ts";
import { isNode } from "./describe.ts";

/**
 * What callers may rely on, as facts about each subject: an operation, or a schema as it is sent (`in`) or answered (`out`).
 * A fact is a sign, a place and what is there, such as `+.name|there`. One with `+` may not go; one with `!` may not come,
 * unless its place is new and may be left out: it asks more of callers, or gives them what they do not expect.
 */
export type Promises = Map<string, Set<string>>;

const LIMITS = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format"] as const;

/** The promises of an OpenAPI document. */
export function promisesOf({ paths, components }: Pick<OpenApi, "paths" | "components">): Promises {
  const promises: Promises = new Map();
  const factsOf = (subject: string): Set<string> => {
    const known = promises.get(subject) ?? new Set();
    promises.set(subject, known);
    return known;
  };
  const walk = (schema: unknown, at: string, direction: "in" | "out", facts: Set<string>): void => {
    if (!isNode(schema)) return;
    const name = typeof schema["$ref"] === "string" ? schema["$ref"].split("/").at(-1) : undefined;
    if (name !== undefined) {
      facts.add(`${direction === "in" ? "+" : "!"}${at}|${name}`);
      const subject = `${direction} ${name}`;
      if (!promises.has(subject)) walk(components.schemas[name], "", direction, factsOf(subject));
      return;
    }
    for (const fact of own(schema, at, direction)) facts.add(fact);
    for (const key of ["anyOf", "oneOf", "allOf"]) {
      for (const one of listOf(schema[key])) walk(one, at, direction, facts);
    }
    walk(schema["items"], `${at}[]`, direction, facts);
    if (!isNode(schema["properties"])) return;
    for (const [property, inner] of Object.entries(schema["properties"])) {
      facts.add(`+${at}.${property}|there`);
      walk(inner, `${at}.${property}`, direction, facts);
    }
  };
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { parameters = [], requestBody, responses }] of Object.entries(methods)) {
      const facts = factsOf(`${method.toUpperCase()} ${path}`);
      for (const { name, in: where, required, schema } of parameters) {
        const at = `${String(where)} ${String(name)}`;
        facts.add(`+${at}|there`);
        if (required === true) facts.add(`!${at}|required`);
        walk(schema, at, "in", facts);
      }
      if (requestBody?.required === true) facts.add("!body|required");
      for (const [type, media] of Object.entries(requestBody?.content ?? {})) {
        facts.add("+body|there").add(`+body|${type}`);
        walk(media.schema, "body", "in", facts);
      }
      for (const [status, { content = {} }] of Object.entries(responses)) {
        // Where an answer has an ETag, HTTP itself lets a 304 take its place.
        if (status === "304" || status >= "400") continue;
        facts.add(`+${status}|there`);
        for (const [type, media] of Object.entries(content)) {
          facts.add(`+${status}|${type}`);
          walk(media.schema, status, "out", facts);
        }
      }
    }
  }
  return promises;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The facts of a schema itself. What is sent may be taken more widely with time, what is answered only more narrowly. */
function own(schema: Schema, at: string, direction: "in" | "out"): string[] {
  const sent = direction === "in";
  const types = listOf([schema["type"] ?? []].flat()).map((type) => `${sent ? "+" : "!"}${at}|${String(type)}`);
  const required = listOf(schema["required"]).map((name) => `${sent ? "!" : "+"}${at}.${String(name)}|required`);
  if (!sent) return [...types, ...required];
  const values = listOf(schema["enum"]).map((value) => `+${at}|=${JSON.stringify(value)}`);
  const limits = LIMITS.filter((name) => schema[name] !== undefined).map(
    (name) => `!${at}|${name} ${JSON.stringify(schema[name])}`,
  );
  return [...types, ...required, ...values, ...limits];
}

/** What of the released promises the new ones break: none where every caller of the old finds what it relies on. */
export function broken(released: Promises, now: Promises): string[] {
  return [...released].flatMap(([subject, facts]) => {
    const others = now.get(subject);
    // A schema that nothing refers to any more is told where it was referred to.
    if (others === undefined) return /^(?:in|out) /.test(subject) ? [] : [`${subject} is gone`];
    const gone = [...facts].filter((fact) => fact.startsWith("+") && !others.has(fact));
    const come = [...others].filter(
      (fact) =>
        fact.startsWith("!") &&
        !facts.has(fact) &&
        !isOfNew(fact, facts) &&
        !isWhole(fact, facts) &&
        !isAskedForAnew(fact, facts, others),
    );
    return [...gone.map((fact) => `${subject}: gone ${fact}`), ...come.map((fact) => `${subject}: new ${fact}`)];
  });
}

/** Whether a fact is about a place that was not there, and that nobody has to know. */
function isOfNew(fact: string, released: ReadonlySet<string>): boolean {
  const [at = "", what] = fact.slice(1).split("|", 2);
  const place = at.replace(/(?:\[\])+$/, "");
  return what !== "required" && place !== "" && !released.has(`+${place}|there`);
}

/** Whether a fact is that a number of an answer, which could be any, is a whole one now. */
function isWhole(fact: string, released: ReadonlySet<string>): boolean {
  return fact.endsWith("|integer") && released.has(fact.replace(/integer$/, "number"));
}

/** Whether a fact is a further form of an answer, which whoever does not send a new parameter does not get. */
function isAskedForAnew(fact: string, released: ReadonlySet<string>, now: ReadonlySet<string>): boolean {
  const [, status] = /^!(\d{3})\|/.exec(fact) ?? [];
  if (status === undefined) return false;
  const known = [...released].filter((one) => one.startsWith(`!${status}|`));
  const parameters = [...now].filter((one) => /^\+(?:query|header) .*\|there$/.test(one));
  return known.every((one) => now.has(one)) && known.length > 0 && parameters.some((one) => !released.has(one));
}

/** Promises as text, a subject a line, and back. */
export function written(promises: Promises): string {
  const lines = [...promises].map(([subject, facts]) => [subject, ...[...facts].toSorted()].join("\t"));
  return `${lines.toSorted().join("\n")}\n`;
}

/** The promises that `written` wrote. */
export function readPromises(text: string): Promises {
  const lines = text.split("\n").filter(Boolean);
  return new Map(
    lines.map((line) => {
      const [subject = "", ...facts] = line.split("\t");
      return [subject, new Set(facts)];
    }),
  );
}
