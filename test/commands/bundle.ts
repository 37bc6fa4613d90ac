/**
 * Bundles the Worker for its deployment into `dist/service`: `index.js` with all that is loaded when it starts, and a
 * module for each part that is loaded when it is first asked for. wrangler runs this, and uploads what it finds.
 */
import { randomUUID } from "node:crypto";
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { gzipSync } from "node:zlib";
import { build, type BuildOptions, type Metafile, type Plugin } from "esbuild";
import { packages } from "./bundling/packages.ts";
import { undescribed } from "./bundling/undescribed.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const COMMON = {
  absWorkingDir: ROOT,
  bundle: true,
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "hono/jsx",
  logLevel: "error",
} satisfies BuildOptions;

/**
 * The most that a bundle may take, in KB after gzip: what is loaded when it starts, and all of it, which is a third of what
 * the smallest plan of Workers takes.
 */
export const SIZES = { atStart: 350, all: 1024 };

/** The most that a module of code may take, in KB: a longer one is data in the main, and takes long to compile. */
export const LONGEST_MODULE = 256;

/** What each module of a bundle is made of; kept beside them under the name `MODULES`. */
type Modules = Record<string, { entry?: string; imports: string[]; sources: string[] }>;
const MODULES = "modules.json";
const ENTRY = "functions/index.ts";

/** Bundles the Worker into the folder `outdir`, which holds nothing yet. */
export async function bundle(outdir: string): Promise<void> {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: { index: ENTRY },
    outdir,
    splitting: true,
    chunkNames: "parts/[name]-[hash]",
    assetNames: "parts/[name]-[hash]",
    minify: true,
    metafile: true,
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    mainFields: ["browser", "module", "main"],
    define: { "process.env.NODE_ENV": '"production"' },
    external: ["node:*"],
    plugins: [statics, packages, undescribed(ROOT)],
  });
  writeFileSync(join(outdir, MODULES), JSON.stringify(modulesIn(metafile, outdir)));
}

function modulesIn({ outputs }: Metafile, outdir: string): Modules {
  const nameOf = (path: string): string => relative(outdir, join(ROOT, path)).replaceAll("\\", "/");
  return Object.fromEntries(
    Object.entries(outputs).map(([path, { entryPoint, imports, inputs }]) => [
      nameOf(path),
      {
        ...(entryPoint === undefined ? {} : { entry: entryPoint }),
        imports: imports
          .filter(({ kind, path: to }) => kind === "import-statement" && to in outputs)
          .map((one) => nameOf(one.path)),
        sources: Object.entries(inputs).flatMap(([source, { bytesInOutput }]) => (bytesInOutput > 0 ? [source] : [])),
      },
    ]),
  );
}

/**
 * What is loaded with a source of a bundle that is loaded by itself, the entry or one that is imported by a call: the
 * modules, what they import, and what that imports, and the sources in them. `.ts` stands for `.tsx`, too.
 */
export function loadedWith(folder: string, source = ENTRY): { modules: string[]; sources: string[] } {
  const all: Modules = JSON.parse(readFileSync(join(folder, MODULES), "utf8"));
  const found = new Set(Object.keys(all).filter((name) => all[name]?.entry?.replace(/x$/, "") === source));
  if (found.size === 0) throw new Error(`${source} is not loaded by itself`);
  for (const name of found) for (const to of all[name]?.imports ?? []) found.add(to);
  return { modules: [...found], sources: [...found].flatMap((name) => all[name]?.sources ?? []) };
}

/** The size of a bundle in a folder, in KB after gzip: what is loaded when it starts, and all of it. */
export function sizes(folder: string): { atStart: number; all: number } {
  const size = (names: string[]): number =>
    gzipSync(Buffer.concat(names.map((name) => readFileSync(join(folder, name))))).length / 1024;
  return {
    atStart: size(loadedWith(folder).modules),
    all: size(globSync(["index.js", "parts/*"], { cwd: folder }).toSorted()),
  };
}

/** The longest literal, in characters of JSON, that a static module may have: what is longer is read as text when asked for. */
const LONGEST_LITERAL = 40_000;

/** A module `*.static.ts` is evaluated when the service is built; what it exports is data, and takes its place. */
const statics: Plugin = {
  name: "statics",
  setup({ onLoad, onResolve }) {
    const texts = new Map<string, string>();
    onLoad({ filter: /\.static\.ts$/ }, async ({ path }) => {
      const exports = Object.entries(await valuesOf(path)).map(([name, value]) => {
        const json = JSON.stringify(value);
        if (!isDeepStrictEqual(JSON.parse(json), value)) throw new Error(`${name} of ${path} is more than data`);
        if (json.length <= LONGEST_LITERAL) return `export const ${name} = ${json};`;
        const text = `${path.replace(/\.static\.ts$/, "")}.${name.toLowerCase()}.txt`;
        texts.set(text, typeof value === "string" ? value : json);
        const from = JSON.stringify(text);
        if (typeof value === "string") return `export { default as ${name} } from ${from};`;
        return `import ${name}_TEXT from ${from}; export const ${name} = JSON.parse(${name}_TEXT);`;
      });
      return { contents: exports.join("\n"), loader: "js" };
    });
    onResolve({ filter: /\.txt$/ }, ({ path }) => (texts.has(path) ? { path, namespace: "text" } : undefined));
    onLoad({ filter: /./, namespace: "text" }, ({ path }) => ({ contents: texts.get(path) ?? "", loader: "copy" }));
  },
};

/** Lets a static module find the files beside it, though what is evaluated lies elsewhere. */
const beside: Plugin = {
  name: "beside",
  setup({ onLoad }) {
    onLoad({ filter: /\.static\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      return { contents: source.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href)), loader: "ts" };
    });
  },
};

/** What a module of the service exports, evaluated in Node with all that it imports. */
export async function valuesOf(path: string): Promise<Record<string, unknown>> {
  const { outputFiles } = await build({
    ...COMMON,
    entryPoints: [path],
    platform: "node",
    packages: "external",
    write: false,
    plugins: [beside],
  });
  // Inside the project, so that it finds the packages.
  const folder = join(ROOT, "dist");
  const file = join(folder, `.static-${randomUUID()}.mjs`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, outputFiles[0]?.text ?? "");
  try {
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(file);
  }
}

if (import.meta.main) {
  const folder = join(ROOT, "dist", "service");
  rmSync(folder, { recursive: true, force: true });
  await bundle(folder);
}
