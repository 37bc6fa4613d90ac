import { inBulk } from "../stack/bulk.ts";
import type { Bench } from "./beside.ts";
import { liveHeap } from "./heap.ts";
import { type Measured, measured, time } from "./measure.ts";

const RUNS = 1_000_000;
const LF = 10;
/** Bytes between two looks at the heap: so many that the page which is read meanwhile adds little to the pace. */
const LOOK_BYTES = 64 * 1024 * 1024;

/** Rows of a tenth of the export, over each of which its pace is taken. */
const STRETCH = RUNS / 10;

/** What an export of a million runs takes. */
export interface Exported {
  /** Rows a second: the median of tenths, the slowest and the fastest of them, as far in as they come. */
  pace: Measured;
  /** The most that the Worker's heap in use grows by beyond the first page, in KB. */
  growth: number;
}

/**
 * Exports a million runs of an agent's owner from the deployed Worker. The file must be whole; while it is looked what the
 * Worker's heap holds, nobody reads on and no time is counted.
 */
export async function exportOfAMillion(
  { stack, pool, inspector }: Pick<Bench, "stack" | "pool" | "inspector">,
  owner: Bench["account"],
  agentId: string,
): Promise<Exported> {
  const { rows } = await pool.query<{ id: string }>("select id from tasks where not is_secret limit 1");
  const runs = { owner: owner.id, agent: agentId, task: rows[0]?.id ?? "" };
  await pool.query(plainRuns(runs, RUNS));
  await pool.query("vacuum analyze runs");
  const headers = { authorization: `Bearer ${await owner.token()}`, "cf-connecting-ip": "10.4.0.1" };
  const { body } = await fetch(`${stack.url}/api/v1/runs/export.csv`, { headers });
  if (body === null) throw new Error("the export has no body");
  const paces: number[] = [];
  const heaps: number[] = [];
  let [lines, reached, unseen] = [0, 0, LOOK_BYTES];
  let from = performance.now();
  for await (const piece of body) {
    for (let at = piece.indexOf(LF); at >= 0; at = piece.indexOf(LF, at + 1)) lines += 1;
    if (lines >= reached + STRETCH) {
      paces.push(((lines - reached) / (performance.now() - from)) * 1000);
      [reached, from] = [lines, performance.now()];
    }
    unseen += piece.length;
    if (unseen < LOOK_BYTES) continue;
    unseen = 0;
    from += await time(async () => heaps.push(await liveHeap(inspector)));
  }
  if (lines !== RUNS + 1) throw new Error(`the export has ${lines} lines`);
  return { pace: measured(paces), growth: Math.max(...heaps) - (heaps[0] ?? Number.NaN) };
}

/** SQL that leaves so many plain runs of one agent, asked for by its owner, and no other run. */
export function plainRuns(of: { owner: string; agent: string; task: string }, count: number): string {
  return inBulk(
    ["runs"],
    `truncate runs cascade;
     insert into runs (agent_id, task_id, domain, user_id, status, trigger, scope, passed, latency_ms, correctness,
       evidence_cost_usd, serving_model, evidence_signed, started_at, finalized_at)
     select '${of.agent}', t.id, t.domain, '${of.owner}', 'completed', 'manual', 'personal', true, n % 9000, 0.5, 0.001234,
       'vendor/model-' || n % 9, true, now(), now() from tasks t, generate_series(1, ${count}) n where t.id = '${of.task}'`,
  );
}
