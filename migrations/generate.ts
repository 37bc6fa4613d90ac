/**
 * Writes every generated file anew; with `--check` it fails where one is not up to date instead. `--name add_notes` names
 * the migration, should the schema have changed; with `--custom` there is an empty one to write SQL in, though it has not.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const check = process.argv.includes("--check");
const flags = check ? ["--check"] : [];
const named = process.argv.indexOf("--name");
const name = named < 0 ? [] : process.argv.slice(named, named + 2);
const custom = process.argv.includes("--custom") ? ["--custom"] : [];
const GENERATORS = [
  "migrations/lists.generate.ts",
  "shared/identity/passwords/common-passwords.generate.ts",
  "shared/scoring/model-prices.generate.ts",
];

function run(command: string, args: string[], cwd = ROOT): string {
  return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

try {
  for (const generator of GENERATORS) run(process.execPath, [generator, ...flags]);
  const kit = join(ROOT, "node_modules", "drizzle-kit", "bin.cjs");
  const generate = ["generate", "--dialect", "postgresql", "--schema", "shared/db/schema/index.ts", "--out"];
  if (check) {
    // The kit has no dry run: what it would add to a copy is what is missing.
    const copy = mkdtempSync(join(tmpdir(), "migrations-"));
    cpSync(join(ROOT, "migrations"), copy, { recursive: true });
    const before = readdirSync(copy).length;
    run(process.execPath, [kit, ...generate, copy]);
    const stale = readdirSync(copy).length !== before;
    rmSync(copy, { recursive: true });
    if (stale) throw new Error("The schema has changes without a migration: run npm run generate.");
  } else {
    run(process.execPath, [kit, ...generate, "./migrations", ...name, ...custom]);
  }
} catch (error) {
  const stderr = error instanceof Error && "stderr" in error ? String(error.stderr) : "";
  console.error(stderr === "" && error instanceof Error ? error.message : stderr);
  process.exitCode = 1;
}
