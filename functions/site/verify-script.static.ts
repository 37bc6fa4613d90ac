import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const { outputFiles } = buildSync({
  entryPoints: [fileURLToPath(new URL("browser/verify.ts", import.meta.url))],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  write: false,
});

/** The script that verifies in a browser, built from `browser/verify.ts`. */
export const VERIFY_SOURCE: string = outputFiles[0]?.text ?? "";

/** Where a page finds it; another text has another address. */
export const VERIFY = `/verify.js?v=${createHash("sha256").update(VERIFY_SOURCE).digest("hex").slice(0, 12)}`;
