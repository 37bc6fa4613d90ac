import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What `wrangler.toml` says of a deployment, for the Workers that run on this machine. */
const toml = readFileSync(new URL("../../../wrangler.toml", import.meta.url), "utf8");
const flags = /compatibility_flags = \[(.*)\]/.exec(toml)?.[1] ?? "";

/** What the runtime is asked to be compatible with. */
export const COMPATIBILITY = {
  date: /compatibility_date = "(.+)"/.exec(toml)?.[1] ?? "",
  flags: [...flags.matchAll(/"(\w+)"/g)].map(([, flag]) => flag as string),
};

/** A module of a bundle, as it is uploaded. */
export interface Module {
  type: "ESModule" | "Text";
  path: string;
}

/** The modules of a bundle, the entry first. */
export function modulesOf(entry: string): Module[] {
  const folder = dirname(entry);
  const parts = globSync("parts/*.{js,txt}", { cwd: folder }).toSorted();
  return [entry, ...parts.map((name) => join(folder, name))].map((path) => ({
    type: path.endsWith(".js") ? "ESModule" : "Text",
    path,
  }));
}
