import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Runs a program; throws with what it printed where it does not end with 0. */
export const run = promisify(execFile);

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PACKAGES = join(ROOT, "node_modules");

/** Node 20 where this machine has it beside the one that the tests run on. */
const OTHER_NODES = ["/usr/bin/node", "/usr/local/bin/node"];

/** The versions of Node that there are to try a package on: the path of each by its version. */
export async function nodes(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const path of [process.execPath, ...OTHER_NODES.filter(existsSync)]) {
    const { stdout } = await run(path, ["--version"]);
    const version = stdout.trim();
    if (!found.has(version)) found.set(version, path);
  }
  return found;
}

/** A folder for a program, with the packages of the project that it names beside it. */
export function newFolder(packages: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "clients-"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const name of packages) {
    const place = join(folder, "node_modules", name);
    mkdirSync(join(place, ".."), { recursive: true });
    symlinkSync(join(PACKAGES, name), place);
  }
  return folder;
}

/**
 * Packs a folder of `clients/` as `npm pack` does, with what `build` writes to its `dist/`, and unpacks it where a program
 * in `folder` finds it as a package.
 */
export async function install(name: string, build: (dist: string) => Promise<void>, folder: string): Promise<void> {
  const staged = mkdtempSync(join(tmpdir(), "packing-"));
  for (const file of ["package.json", "README.md"]) cpSync(join(ROOT, "clients", name, file), join(staged, file));
  await build(join(staged, "dist"));
  const options = ["pack", "--ignore-scripts", "--json", "--pack-destination", staged];
  const { stdout } = await run("npm", options, { cwd: staged });
  const [packed] = JSON.parse(stdout) as { name: string }[];
  const place = join(folder, "node_modules", packed?.name ?? "");
  mkdirSync(place, { recursive: true });
  const [tarball = ""] = readdirSync(staged).filter((file) => file.endsWith(".tgz"));
  await run("tar", ["-xzf", join(staged, tarball), "-C", place, "--strip-components=1"]);
}
