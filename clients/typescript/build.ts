/**
 * What `npm pack` does first: writes the types and the list of paths that take an idempotency key from the OpenAPI document
 * of this very checkout, and compiles the client to `dist/`, plain JavaScript with its types. With `--types` it only writes
 * what the sources need to be checked.
 */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import * as z from "zod";
import { valuesOf } from "../../test/commands/bundle.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const GENERATED = join(HERE, "src", "generated");
/** The generator of types needs TypeScript 5, which has a package of its own here. */
const generator = createRequire(join(ROOT, "test/client/package.json")).resolve("openapi-typescript");
const compiler = createRequire(import.meta.url).resolve("typescript/package.json");

const Document = z.object({
  paths: z.record(
    z.string(),
    z.object({ post: z.object({ parameters: z.array(z.object({ name: z.string() })).default([]) }).optional() }),
  ),
});

function node(script: string, ...options: string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...options], { cwd: HERE, encoding: "utf8" });
  if (status !== 0) throw new Error(`${script} ended with ${status}:\n${stdout}${stderr}`);
}

const JSON_VALUE = /^ {8}JsonValue: string \| [^;]*;\s*\};\n/m;

/** Gives the type of any JSON a name of its own: a member of an interface may not be made of itself. */
function withJson(types: string): string {
  if (!JSON_VALUE.test(types)) throw new Error("The generated types write JsonValue in another way than expected.");
  const type = "null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }";
  return `${types.replace(JSON_VALUE, "        JsonValue: JsonValue;\n")}\n/** Any JSON. */\nexport type JsonValue = ${type};\n`;
}

/** Writes a generated source in one step, so that builds side by side do not read half of it. */
function place(name: string, text: string): void {
  const file = join(GENERATED, `.${randomUUID()}`);
  writeFileSync(file, text);
  renameSync(file, join(GENERATED, name));
}

let generated: Promise<void> | undefined;

/** Writes the sources that are made of the OpenAPI document; a process does it once, whatever it builds. */
export function generate(): Promise<void> {
  return (generated ??= writeGenerated());
}

async function writeGenerated(): Promise<void> {
  const { DOCUMENT } = z
    .object({ DOCUMENT: z.string() })
    .parse(await valuesOf(join(ROOT, "functions/openapi-document.static.ts")));
  mkdirSync(GENERATED, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), "client-types-"));
  try {
    const [document, types] = [join(folder, "openapi.json"), join(folder, "service.ts")];
    writeFileSync(document, DOCUMENT);
    // A field with a default may be left out of a request.
    node(join(generator, "../../bin/cli.js"), document, "--output", types, "--default-non-nullable=false");
    place("service.ts", withJson(readFileSync(types, "utf8")));
  } finally {
    rmSync(folder, { recursive: true });
  }
  const paths = Object.entries(Document.parse(JSON.parse(DOCUMENT)).paths)
    .filter(([, { post }]) => post?.parameters.some(({ name }) => name === "Idempotency-Key") === true)
    .map(([path]) => path);
  place(
    "idempotent.ts",
    `/** The paths whose POST takes an \`Idempotency-Key\`. */\nexport const IDEMPOTENT: ReadonlySet<string> = new Set(${JSON.stringify(paths, null, 2)});\n`,
  );
}

/** Compiles the client to a folder; throws where its source does not fit the OpenAPI document. */
export async function buildClient(folder: string): Promise<void> {
  await generate();
  rmSync(folder, { recursive: true, force: true });
  const tsc = join(compiler, "../bin/tsc");
  node(tsc, "-p", "tsconfig.json", "--outDir", folder);
  const beside = join(folder, "clients/typescript/src");
  // With all the graders and templates in it, so that the package needs no more packages for what few ask for.
  await build({
    entryPoints: [join(HERE, "src/regrade.ts")],
    outdir: beside,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    minify: true,
    logLevel: "warning",
  });
  // Its own types name none of what it is made of, so its declarations stand alone.
  const alone = ["--ignoreConfig", "--noResolve", "--noCheck", "--allowImportingTsExtensions", "--target", "es2022"];
  node(tsc, ...alone, "--module", "esnext", "-d", "--emitDeclarationOnly", "--outDir", beside, "src/regrade.ts");
}

if (import.meta.main) await (process.argv.includes("--types") ? generate() : buildClient(join(HERE, "dist")));
