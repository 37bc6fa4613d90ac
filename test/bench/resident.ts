import { execFileSync } from "node:child_process";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { WORKERS } from "../stack/limits.ts";
import { liveHeap } from "./heap.ts";
import type { Figure } from "./measure.ts";

/** A process as `ps` lists it. */
export interface Listed {
  pid: number;
  parent: number;
  /** Of memory that is resident, in KB. */
  size: number;
  name: string;
}

/** How long nothing is asked before what is left is looked at: workerd gives pages back when it is idle. */
const QUIET_MS = 2000;

/**
 * What a Worker may have in memory beyond hello world, whose process has the same runtime: the platform's limit of an isolate
 * once all is quiet, and as much again for garbage and buffers right after a load.
 */
const BUDGET_KB = { loaded: 2 * WORKERS.memoryMib * 1024, quiet: WORKERS.memoryMib * 1024 };

/** The processes of this machine; null where there is no `ps`. */
function processes(): Listed[] | null {
  if (process.platform === "win32") return null;
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,rss=,comm="], { encoding: "utf8" }).trim().split("\n");
  return lines.map((line) => {
    const [pid, parent, size, ...name] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), size: Number(size), name: basename(name.join(" ")) };
  });
}

/**
 * How much more memory the service's workerd has than the bare Worker's, in KB: this process (`own`) started that of the
 * bare Worker itself, and the service's by way of the stack.
 */
export function beyondBare(all: readonly Listed[], own: number): number {
  const parents = new Map(all.map(({ pid, parent }) => [pid, parent]));
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid !== 0 && (pid === own || isBelow(parents.get(pid)));
  const runtimes = all.filter(({ name, pid }) => name === "workerd" && isBelow(pid));
  const most = (of: Listed[]): number => Math.max(...of.map(({ size }) => size));
  const [bare, service] = [
    runtimes.filter(({ parent }) => parent === own),
    runtimes.filter(({ parent }) => parent !== own),
  ];
  if (bare.length === 0 || service.length === 0) throw new Error("the processes of the Workers are not found");
  return most(service) - most(bare);
}

/** What the Worker has in use in its memory, once all garbage is collected. */
export async function heapFigure(inspector: number): Promise<Figure> {
  return {
    name: "live heap of the Worker after all of these loads",
    value: await liveHeap(inspector),
    unit: "KB",
    kind: "most",
    budget: BUDGET_KB.quiet,
  };
}

/**
 * What the Worker's process has in memory after a load, at once and when it is collected and quiet. It is compared with one
 * that had the same load and no other: what a process keeps of all that it ever used is its allocator's affair.
 */
export async function residentFigures(inspector: number): Promise<Figure[]> {
  const resident = (): number | null => {
    const all = processes();
    return all === null ? null : beyondBare(all, process.pid);
  };
  const loaded = resident();
  await liveHeap(inspector);
  await delay(QUIET_MS);
  const quiet = resident();
  if (loaded === null || quiet === null) return [];
  const against = "hello world's after a load of as long, subtracted";
  const most = { unit: "KB", kind: "most", against } as const;
  return [
    { name: "memory of the Worker's process after this load", value: loaded, ...most, budget: BUDGET_KB.loaded },
    { name: "the same, once it is collected and quiet", value: quiet, ...most, budget: BUDGET_KB.quiet },
  ];
}
