import { PARAMETERS } from "./words/parameters.ts";
import { WORDS } from "./words/words.ts";

type Node = Record<string, unknown>;

/** Whether a value is a JSON object. */
export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The word for a property, by the longest end of the way to it that there is a word for; undefined without one. */
export function wordFor(way: readonly string[]): string | undefined {
  for (let from = 0; from < way.length; from += 1) {
    const word = WORDS[way.slice(from).join(".")];
    if (word !== undefined) return word;
  }
  return undefined;
}

/** Says of each property below `node` what it means, where its schema does not; `way` is the names that lead there. */
export function describeProperties(node: unknown, way: readonly string[]): void {
  if (Array.isArray(node)) {
    for (const one of node) describeProperties(one, way);
    return;
  }
  if (!isNode(node)) return;
  for (const [key, value] of Object.entries(node)) {
    if (key !== "properties" || !isNode(value)) {
      describeProperties(value, way);
      continue;
    }
    for (const [name, property] of Object.entries(value)) {
      const own = [...way, name];
      if (isNode(property)) property["description"] ??= wordFor(own);
      describeProperties(property, own);
    }
  }
}

/** Says of a parameter what it means, where its schema does not. */
export function describeParameter(path: string, parameter: Node): void {
  const name = String(parameter["name"]);
  const before = path
    .slice(0, path.indexOf(`/{${name}}`))
    .split("/")
    .at(-1);
  parameter["description"] ??= PARAMETERS[parameter["in"] === "path" ? `${before}/{${name}}` : name];
}
