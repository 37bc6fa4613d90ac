import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Module, modulesOf } from "./deployment.ts";

/** A module whose text is given, or lies at its path. */
type Given = Module & { contents?: string };

/**
 * The modules of a bundle behind an entry of the stack's own, which holds each invocation to what the platform lets it send.
 * workerd has no such limits by itself.
 */
export async function meteredModulesOf(entry: string, subrequests: number): Promise<Given[]> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("./metered.ts", import.meta.url))],
    bundle: true,
    format: "esm",
    target: "es2024",
    write: false,
    external: ["node:*"],
  });
  const module = (name: string, contents: string): Given => ({
    type: "ESModule",
    path: join(dirname(entry), name),
    contents,
  });
  const start = `import { metered } from "./metered.js";
import service from "./${basename(entry)}";
export default metered(service, ${subrequests});`;
  return [module("start.js", start), module("metered.js", outputFiles[0]?.text ?? ""), ...modulesOf(entry)];
}
