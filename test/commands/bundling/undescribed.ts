import { readFileSync } from "node:fs";
import { extname, relative } from "node:path";
import type { Plugin } from "esbuild";
import { type ESTree, parseSync, Visitor } from "rolldown/utils";

/** What is part of the Worker of this project's own. */
const OWN = /^(?:functions|queues|shared)\//;

/** What the calls that declare something are given for its documents alone, by the name of what is called. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  route: ["tag", "summary", "description", "problems", "needs", "mediaTypes"],
  tool: ["title", "description"],
};

/**
 * Leaves out of the Worker what schemas, endpoints and tools say of themselves. Only documents tell it, which are made
 * when the service is built (`*.static.ts`, evaluated from the sources as they are), and each `.meta()` makes a copy of its
 * schema at the first request.
 */
export const undescribed = (root: string): Plugin => ({
  name: "undescribed",
  setup({ onLoad }) {
    onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
      if (!OWN.test(relative(root, path).replaceAll("\\", "/"))) return undefined;
      const loader = extname(path) === ".tsx" ? "tsx" : "ts";
      return { contents: withoutWords(readFileSync(path, "utf8"), loader), loader };
    });
  },
});

/**
 * A module without what its declarations say of themselves.
 *
 * @example withoutWords('z.uuid().meta({ description: "The account" })', "ts") === "z.uuid()"
 */
export function withoutWords(source: string, lang: "ts" | "tsx"): string {
  const { program, errors } = parseSync(`module.${lang}`, source, { lang });
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join("\n"));
  const cuts: [from: number, to: number][] = [];
  new Visitor({
    CallExpression({ callee, arguments: [first], end }) {
      if (first?.type !== "ObjectExpression") return;
      if (callee.type === "MemberExpression") {
        const { object, property } = callee;
        if (property.type === "Identifier" && property.name === "meta") cuts.push([object.end, end]);
      } else if (callee.type === "Identifier") {
        cuts.push(...properties(first, WORDS[callee.name] ?? []));
      }
    },
  }).visit(program);
  let kept = "";
  let at = 0;
  // What is cut may lie within what is cut as well.
  for (const [from, to] of cuts.toSorted(([a], [b]) => a - b)) {
    if (from >= at) kept += source.slice(at, from);
    at = Math.max(at, to);
  }
  return kept + source.slice(at);
}

/** Where the properties of these names stand, each up to what follows it. */
function properties(object: ESTree.ObjectExpression, names: readonly string[]): [from: number, to: number][] {
  return object.properties.flatMap((property, n): [number, number][] => {
    if (property.type !== "Property" || property.key.type !== "Identifier" || !names.includes(property.key.name))
      return [];
    return [[property.start, object.properties[n + 1]?.start ?? object.end - 1]];
  });
}
