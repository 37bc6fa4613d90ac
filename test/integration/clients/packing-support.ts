import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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

/** What was packed in this process, the tarballs by the folders of `clients/`: files of tests share one. */
const packed = new Map<string, Promise<string>>();

/** Packs a folder of `clients/` as `npm pack` does, with what `build` writes to its `dist/`. */
async function pack(name: string, build: (dist: string) => Promise<void>): Promise<string> {
  const staged = mkdtempSync(join(tmpdir(), "packing-"));
  process.once("exit", () => rmSync(staged, { recursive: true, force: true }));
  for (const file of ["package.json", "README.md"]) cpSync(join(ROOT, "clients", name, file), join(staged, file));
  await build(join(staged, "dist"));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", staged], { cwd: staged });
  const [tarball = ""] = readdirSync(staged).filter((file) => file.endsWith(".tgz"));
  return join(staged, tarball);
}

/** Packs a folder of `clients/`, and unpacks the tarball where a program in `folder` finds it as a package. */
export async function install(name: string, build: (dist: string) => Promise<void>, folder: string): Promise<void> {
  const known = packed.get(name) ?? pack(name, build);
  packed.set(name, known);
  const manifest = readFileSync(join(ROOT, "clients", name, "package.json"), "utf8");
  const place = join(folder, "node_modules", (JSON.parse(manifest) as { name: string }).name);
  mkdirSync(place, { recursive: true });
  await run("tar", ["-xzf", await known, "-C", place, "--strip-components=1"]);
}
