import { expect, test } from "vitest";
import { filesUnder } from "./sources.ts";

const STATEMENT = /^import\s+(type\s+)?([^"';]+?)\s+from\s+"pg"/gm;
const CALL = /\b(?:import|require)\("pg"\)/g;

/** What a module has of `pg` when it runs: names, or `*` for all of it. */
function valuesOfPg(text: string): string[] {
  const named = [...text.matchAll(STATEMENT)].flatMap(([, typeOnly, what = ""]) => {
    if (typeOnly !== undefined) return [];
    if (!what.startsWith("{")) return ["*"];
    const names = what.slice(1, -1).split(",");
    return names.map((name) => name.trim()).filter((name) => name !== "" && !name.startsWith("type "));
  });
  return [...named, ...[...text.matchAll(CALL)].map(() => "*")];
}

test("connections to PostgreSQL are opened in one place each, where somebody listens to their errors", () => {
  const opening = filesUnder("test", "migrations")
    .filter(({ path }) => path.endsWith(".ts"))
    .flatMap(({ path, text }) => valuesOfPg(text).map((name) => `${path}: ${name}`))
    .filter((line) => /: (?:\*|Client|Pool)(?: as .*)?$/.test(line));
  expect(opening).toEqual(["migrations/client.ts: Client", "test/stack/neon/connections.ts: Pool"]);
});
