import { globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Folders whose modules are bundled into the Worker. */
export const SERVICE = ["functions", "queues", "shared"] as const;

/** One file of the project; `path` from its root, with forward slashes. */
export interface Source {
  path: string;
  text: string;
}

/** Every file under these folders of the project, those of packages excepted, in the order of their paths. */
export function filesUnder(...folders: readonly string[]): Source[] {
  return folders
    .flatMap((folder) => globSync(`${folder}/**/*`, { cwd: ROOT, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("node_modules"))
    .map((entry) => read(join(entry.parentPath, entry.name).slice(ROOT.length).replaceAll("\\", "/")))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** In a worktree `.git` is a file that names a place on this machine. */
const NOT_SOURCES = /^(?:package-lock\.json$|\.dev\.vars|\.git$)/;

/** The files that lie in the root itself, those of the package manager's making and git's own excepted. */
export function filesInRoot(): Source[] {
  return readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !NOT_SOURCES.test(entry.name))
    .map(({ name }) => read(name));
}

/** The TypeScript modules of the Worker. */
export function modules(): Source[] {
  return filesUnder(...SERVICE).filter(({ path }) => /\.tsx?$/.test(path));
}

/** One import or re-export: `to` is a path from the project's root, or the name of a package. */
export interface Import {
  from: string;
  to: string;
  /** `import type`: gone when the module runs. */
  typeOnly: boolean;
}

const STATEMENT = /^(?:import|export)\s+(?:(type)\s+)?(?:[\w*{][^;"'=]*?\sfrom\s*)?["']([^"']+)["']/gm;
const CALL = /\bimport\(\s*["']([^"']+)["']\s*\)/g;

/** What a module imports, by statement, re-export or `import()`. */
export function importsOf({ path, text }: Source): Import[] {
  const to = (name: string): string => (name.startsWith(".") ? posix.join(dirname(path), name) : name);
  return [
    ...[...text.matchAll(STATEMENT)].map(([, type, name = ""]) => ({
      from: path,
      to: to(name),
      typeOnly: type !== undefined,
    })),
    ...[...text.matchAll(CALL)].map(([, name = ""]) => ({ from: path, to: to(name), typeOnly: false })),
  ];
}

/** The part of the project a path lies in: `functions`, `queues`, or a folder of `shared` such as `shared/agents`. */
export function partOf(path: string): string {
  const [top = "", second = ""] = path.split("/");
  return top === "shared" ? `${top}/${second}` : top;
}

/** Whether an import leads to a file of the project rather than to a package. */
export function isOwn(to: string): boolean {
  return /\.(?:tsx?|css|csv|json)$/.test(to) && !to.startsWith("node:") && to.includes("/");
}

function read(path: string): Source {
  return { path, text: readFileSync(join(ROOT, path), "utf8") };
}
