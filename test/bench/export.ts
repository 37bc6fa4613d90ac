import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Pool } from "pg";
import { streamed } from "../../shared/http/stream.ts";
import { exportRuns } from "../../shared/results/export.ts";
import type { Deployed } from "../e2e/deployed.ts";
import { inBulk } from "../stack/bulk.ts";
import { contextBeside } from "./beside.ts";
import { type Measured, measured } from "./measure.ts";

const RUNS = 1_000_000;
const LF = 10;
/** Bytes between two looks at the memory: about ten pages. */
const LOOK_BYTES = 12 * 1024 * 1024;

/** Rows of a tenth of the export, over each of which its pace is taken. */
const STRETCH = RUNS / 10;

/** What an export of a million runs takes. */
export interface Exported {
  /** Rows a second: the median of tenths, the slowest and the fastest of them, as far in as they come. */
  pace: Measured;
  /** The most that the memory in use grows by beyond the first page, in KB. */
  growth: number;
}

/**
 * Exports a million runs of an agent's owner: from the deployed Worker, whose export must be whole, and in this process,
 * where the memory in use can be seen.
 */
export async function exportOfAMillion(
  stack: Deployed,
  pool: Pool,
  owner: { id: string; token: string },
  agentId: string,
): Promise<Exported> {
  const { rows } = await pool.query<{ id: string }>("select id from tasks where not is_secret limit 1");
  const runs = { owner: owner.id, agent: agentId, task: rows[0]?.id ?? "" };
  await pool.query(plainRuns(runs, RUNS));
  await pool.query("vacuum analyze runs");
  const headers = { authorization: `Bearer ${owner.token}`, "cf-connecting-ip": "10.4.0.1" };
  const { body } = await fetch(`${stack.url}/api/v1/runs/export.csv`, { headers });
  const paces: number[] = [];
  let [reached, at] = [0, performance.now()];
  await read(body, (lines) => {
    if (lines < reached + STRETCH) return;
    const now = performance.now();
    paces.push(((lines - reached) / (now - at)) * 1000);
    [reached, at] = [lines, now];
  });

  const ctx = await contextBeside(stack);
  const file = await exportRuns(
    ctx,
    { kind: "key", userId: owner.id, keyId: "", scope: "read", scopes: null, teamOwnerId: null },
    {},
    "csv",
  );
  let start: number | null = null;
  let most = 0;
  let unseen = LOOK_BYTES;
  await read(streamed(ctx, file), (_lines, bytes) => {
    unseen += bytes;
    if (unseen < LOOK_BYTES) return;
    unseen = 0;
    const used = memoryInUse();
    start ??= used;
    most = Math.max(most, used - start);
  });
  return { pace: measured(paces), growth: most / 1024 };
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

/** Reads an export to its end and lets it go; `look` is told after each piece how many lines there were, and its bytes. */
async function read(
  body: ReadableStream<Uint8Array> | null,
  look: (lines: number, bytes: number) => void,
): Promise<void> {
  if (body === null) throw new Error("the export has no body");
  let lines = 0;
  for await (const piece of body) {
    for (let at = piece.indexOf(LF); at >= 0; at = piece.indexOf(LF, at + 1)) lines += 1;
    look(lines, piece.length);
  }
  if (lines !== RUNS + 1) throw new Error(`the export has ${lines} lines`);
}

function memoryInUse(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  // The second one waits for what the first one's sweeper has not given back yet.
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
