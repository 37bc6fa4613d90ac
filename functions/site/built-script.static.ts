import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

/** A script for a page, built from this module. For modules alone that are evaluated when the service is built. */
export function builtScript(module: URL): string {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(module)],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    charset: "utf8",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}
