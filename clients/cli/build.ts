/**
 * What `npm pack` does first: checks the types of the command line against the client made from the OpenAPI document of this
 * checkout, and bundles it to `dist/`, plain JavaScript without dependencies, each command a file that is loaded when it is
 * called.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { generate } from "../typescript/build.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** Builds the command line in a folder; throws where its source does not fit the OpenAPI document. */
export async function buildCommandLine(folder: string): Promise<void> {
  await generate();
  const compiler = join(createRequire(import.meta.url).resolve("typescript/package.json"), "../bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [compiler, "--noEmit"], { cwd: HERE, encoding: "utf8" });
  if (status !== 0) throw new Error(stdout);
  rmSync(folder, { recursive: true, force: true });
  await build({
    entryPoints: { main: join(HERE, "src/main.ts") },
    outdir: folder,
    bundle: true,
    splitting: true,
    chunkNames: "parts/[name]-[hash]",
    format: "esm",
    platform: "node",
    target: "node20",
    minifySyntax: true,
    minifyWhitespace: true,
    // Packages of the older kind ask for Node's modules in their own way.
    banner: {
      js: 'import { createRequire as _createRequire } from "node:module"; const require = _createRequire(import.meta.url);',
    },
    loader: { ".txt": "text" },
    logLevel: "warning",
  });
  chmodSync(join(folder, "main.js"), 0o755);
}

if (import.meta.main) await buildCommandLine(join(HERE, "dist"));
