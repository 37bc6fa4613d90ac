import { mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** More than the databases of a whole test run ever hold at once, so that memory never runs out. */
const ENOUGH_BYTES = 4 * 1024 ** 3;

/**
 * A new folder for what nobody needs after this process: in memory where there is plenty, as databases are files by the
 * hundred there, each made and removed; else in the temp folder. What processes that were killed have left there is
 * removed first.
 */
export function scratchFolder(prefix: string): string {
  const parent = inMemory() ? MEMORY : tmpdir();
  for (const name of readdirSync(parent)) {
    const owner = name.startsWith(prefix) ? Number(/^(\d+)-/.exec(name.slice(prefix.length))?.[1]) : NaN;
    if (owner > 0 && !isAlive(owner)) rmSync(join(parent, name), { recursive: true, force: true });
  }
  return mkdtempSync(join(parent, `${prefix}${process.pid}-`));
}

function inMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, freemem()) >= ENOUGH_BYTES;
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
