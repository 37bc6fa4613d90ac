import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";

const FOLDER = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));

/** The file that the binding ASSETS of wrangler.toml gives for a URL; null where there is none of this name. */
export function readAsset(url: string): Promise<Buffer | null> {
  return readFile(join(FOLDER, basename(new URL(url).pathname))).catch(() => null);
}
