import { Buffer } from "node:buffer";
import type { TaskRow } from "./secret-suites-support.ts";

/** So many letters and digits in a row are no chance; of a text, `SIZE + STRIDE - 1` are always found. */
const SIZE = 28;
const STRIDE = 6;

/** Members of graders whose values are words of the service's own. */
const OPTIONS = ["type", "kind"];

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#39": "'", nbsp: " " };

/**
 * A text as a reader may decode it: what stands in it as base64 is added, escapes of JSON, HTML and CSV are undone, and
 * white space is folded.
 */
export function decoded(text: string): string {
  const hidden = [...text.matchAll(/[\w+/-]{40,}/g)].map(([run]) => Buffer.from(run, "base64").toString());
  return [text, ...hidden]
    .join("\n")
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/\\[nrtbf]/g, " ")
    .replaceAll(/\\(["\\/])/g, "$1")
    .replaceAll(/&(#?\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity)
    .replaceAll('""', '"')
    .replaceAll(/\s+/g, " ");
}

/** Letters and digits alone: what is left of a text however it is punctuated. */
const folded = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "");

const windows = (text: string, stride: number): string[] =>
  Array.from({ length: Math.max(0, Math.ceil((text.length - SIZE + 1) / stride)) }, (_none, index) =>
    text.slice(index * stride, index * stride + SIZE),
  );

/** The texts in a JSON value. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The texts and numbers in a JSON value that are not likely to stand anywhere by chance. */
function distinctive(value: unknown): string[] {
  if (typeof value === "number") return String(value).length >= 6 ? [String(value)] : [];
  if (typeof value === "string") {
    const telling = value.length >= 5 && /[A-Z]|\d/.test(value) && !/^(?:\d{4}-\d\d-\d\d|\d\d?:\d\d)$/.test(value);
    return telling ? [decoded(value)] : [];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => (OPTIONS.includes(name) ? [] : distinctive(one)));
}

/** What the secret tasks must not be found by: every stretch of what an agent is sent, and the telling parts of keys. */
export class Secrets {
  readonly #stretches = new Map<string, string>();
  readonly #keys = new Map<string, string>();

  /** Of `secret`, all that does not stand in `open` tasks as well. */
  constructor(secret: readonly TaskRow[], open: readonly TaskRow[]) {
    const shown = decoded(JSON.stringify(open));
    const known = new Set(windows(folded(shown), 1));
    for (const { title, prompt, input, output_schema, tools, expected_output, grader } of secret) {
      // Of a schema, what it describes: the rest is grammar.
      for (const text of [prompt, JSON.stringify(input), ...textsIn(output_schema), ...textsIn(tools)])
        for (const one of windows(folded(decoded(text)), 1)) if (!known.has(one)) this.#stretches.set(one, title);
      for (const one of [...distinctive(expected_output), ...distinctive(grader)])
        if (!shown.includes(one)) this.#keys.set(one, title);
    }
  }

  /** How many stretches and parts of keys are looked for, by the titles of the tasks that have any. */
  get sizes(): { stretches: number; keys: number; titles: Set<string> } {
    const titles = new Set([...this.#stretches.values(), ...this.#keys.values()]);
    return { stretches: this.#stretches.size, keys: this.#keys.size, titles };
  }

  /** What of the secrets stands in a text: a stretch of each task that is found, and all keys, with the tasks' titles. */
  find(text: string): string[] {
    const plain = decoded(text);
    const stretches = new Map<string, string>();
    for (const one of windows(folded(plain), STRIDE)) {
      const title = this.#stretches.get(one);
      if (title !== undefined && !stretches.has(title)) stretches.set(title, `${title}: …${one}…`);
    }
    const keys = [...this.#keys].filter(([key]) => plain.includes(key));
    return [...stretches.values(), ...keys.map(([key, title]) => `${title}: key ${key}`)];
  }
}

/** Everything in a JSON value that calls itself a secret task, and does not keep back what makes it one. */
export function exposed(value: unknown): object[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap(exposed);
  const { is_secret, isSecret, ...fields } = value as Record<string, unknown>;
  const withheld = [
    "prompt",
    "input",
    "output_schema",
    "outputSchema",
    "tools",
    "grader",
    "expected_output",
    "request",
  ];
  const shown = (is_secret ?? isSecret) === true && withheld.some((name) => (fields[name] ?? null) !== null);
  return shown ? [value, ...inner] : inner;
}

interface GraphqlType {
  kind: string;
  name: string | null;
  ofType: GraphqlType | null;
}

interface GraphqlField {
  name: string;
  args: { name: string; type: GraphqlType }[];
  type: GraphqlType;
}

/** A GraphQL document for each field of the query type, with all that can be selected below it, by introspection. */
export async function documents(
  ask: (
    query: string,
  ) => Promise<{ body: { data: { __schema: { types: { name: string; fields: GraphqlField[] | null }[] } } } }>,
  ids: { task: string; agent: string },
): Promise<string[]> {
  const type = "{ kind name ofType { kind name ofType { kind name ofType { kind name } } } }";
  const { body } = await ask(`{ __schema { types { name fields { name args { name type ${type} } type ${type} } } } }`);
  const fields = new Map(body.data.__schema.types.map((one) => [one.name, one.fields ?? []]));
  const nameOf = ({ name, ofType }: GraphqlType): string => name ?? (ofType === null ? "" : nameOf(ofType));
  const below = (field: GraphqlField): string => {
    const inner = (fields.get(nameOf(field.type)) ?? []).map((one) => one.name + below(one));
    return inner.length === 0 ? "" : ` { ${inner.join(" ")} }`;
  };
  return (fields.get("Query") ?? []).map((field) => {
    const sizes: Record<string, number> = { agents: 10 };
    const id = field.name === "task" ? ids.task : ids.agent;
    const args = field.args.flatMap(({ name, type: { kind } }) => {
      if (name === "pageSize") return [`pageSize: ${sizes[field.name] ?? 100}`];
      return kind === "NON_NULL" ? [`${name}: "${id}"`] : [];
    });
    return `{ ${field.name}${args.length === 0 ? "" : `(${args.join(", ")})`}${below(field)} }`;
  });
}
