import type { JWK } from "jose";
import * as z from "zod";
import { evenness } from "../../../shared/scoring/evenness.ts";
import { cell, composite } from "../../../shared/scoring/score.ts";
import type { Reads } from "./reads.ts";
import { attest, Run, scoredRuns, wasAsked } from "./scored-runs.ts";

const share = z.number().nullable();

/** A row of the board, as far as it can be computed again. */
export const Row = z.object({
  agent_id: z.string(),
  name: z.string(),
  rank: z.int().nullable(),
  rank_low: z.int().nullable(),
  rank_high: z.int().nullable(),
  simulated: z.boolean(),
  score_basis: z.string(),
  composite_score: z.number(),
  score_low: z.number(),
  score_high: z.number(),
  success_rate: z.number(),
  reliability: z.number(),
  cost_efficiency: z.number(),
  evidence_cost_floor_applied: z.boolean(),
  axes: z.object({ correctness: share, latency: share, cost: share, tool_efficiency: share, robustness: share }),
  runs: z.int(),
  tasks: z.int(),
  asked_runs: z.int().nullable(),
  uneven: z.boolean(),
  last_run_at: z.string(),
});
export type Row = z.output<typeof Row>;

const Task = z.object({
  id: z.string(),
  suite_id: z.string().nullable(),
  suite_version: z.int(),
  is_active: z.boolean(),
  reference_cost_usd: z.number(),
  reference_latency_ms: z.int(),
  expected_tool_calls: z.int().nullable(),
});
type Task = z.output<typeof Task>;

/** What all rows are computed with: the active tasks of the standard suite, and the keys that statements are signed by. */
export interface Standard {
  core: Task[];
  keys: JWK[];
}

/** Reads the standard. */
export async function readStandard(reads: Reads): Promise<Standard> {
  const suites = await reads.all("/api/v1/suites", z.object({ id: z.string(), slug: z.string() }));
  const core = suites.find(({ slug }) => slug === "core");
  const tasks = await reads.all("/api/v1/tasks", Task);
  const { keys } = await reads.one(
    "/.well-known/jwks.json",
    z.object({ keys: z.array(z.looseObject({ kty: z.string() })) }),
  );
  return { core: tasks.filter(({ suite_id, is_active }) => is_active && suite_id === core?.id), keys };
}

/** What a row must be, and what does not fit together about the runs that it comes from. */
export interface Recomputed {
  row: Omit<Row, "agent_id" | "name" | "rank" | "rank_low" | "rank_high" | "simulated">;
  differences: string[];
}

/** Computes an agent's row from its public runs and their statements alone; null without a real run that is scored. */
export async function recompute(reads: Reads, { core, keys }: Standard, agentId: string): Promise<Recomputed | null> {
  const runs = await reads.all(`/api/v1/runs?agent_id=${agentId}`, Run);
  const known = new Map(core.map((task) => [task.id, task]));
  const scored: { task: Task; own: Run[] }[] = [];
  for (const [id, own] of Map.groupBy(runs, ({ task_id }) => task_id)) {
    if (!own.some(({ simulated, evidence_signed }) => evidence_signed && !simulated)) continue;
    const task = known.get(id) ?? (await reads.one(`/api/v1/tasks/${id}`, Task));
    const counted = scoredRuns(own, task.suite_version);
    if (counted.length > 0) scored.push({ task, own: counted });
  }
  if (scored.length === 0) return null;
  const isRanked = core.length > 0 && core.every(({ id }) => scored.some(({ task }) => task.id === id));
  const chosen = isRanked ? scored.filter(({ task }) => known.has(task.id)) : scored;
  const found: string[] = [];
  const cells = [];
  let isFloored = false;
  for (const { task, own } of chosen) {
    const attested = [];
    for (const run of own) attested.push(await attest(reads, keys, run));
    isFloored ||= attested.some((one) => one.isFloored);
    found.push(...attested.flatMap((one) => one.differences));
    cells.push(
      cell(
        attested.map(({ run }) => run),
        task,
      ),
    );
  }
  const ends = chosen.flatMap(({ own }) => own.map(({ finalized_at: at }) => at ?? ""));
  const asked = core.map((task) => runs.filter((run) => run.task_id === task.id && wasAsked(run, task.suite_version)));
  const told = asked.map((own) => own.filter(({ canary }) => canary !== null).length);
  const row = {
    ...composite(cells),
    ...(isRanked
      ? evenness(
          asked.map(({ length }) => length),
          told,
        )
      : { asked_runs: null, uneven: false }),
    evidence_cost_floor_applied: isFloored,
    score_basis: isRanked ? "core" : "provisional",
    last_run_at: ends.toSorted().at(-1) ?? "",
  };
  return { row, differences: found };
}

/** Sums of doubles in another order differ in their last bits; scores have two decimals and are held to each digit. */
const LAST_BITS = 1e-12;

/** Where two values that JSON can hold differ, in words. */
export function differences(path: string, shown: unknown, computed: unknown): string[] {
  if (typeof computed === "object" && computed !== null && typeof shown === "object" && shown !== null) {
    const members = new Map(Object.entries(shown));
    return Object.entries(computed).flatMap(([name, value]) =>
      differences(path === "" ? name : `${path}.${name}`, members.get(name), value),
    );
  }
  const isClose = typeof shown === "number" && typeof computed === "number" && Math.abs(shown - computed) <= LAST_BITS;
  const isRounded = /score|runs|tasks|rank/.test(path);
  if (shown === computed || (isClose && !isRounded)) return [];
  return [`${path}: the board has ${String(shown)}, computed is ${String(computed)}`];
}
