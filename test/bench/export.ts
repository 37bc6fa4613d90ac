import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Pool } from "pg";
import { streamed } from "../../shared/http/stream.ts";
import { exportRuns } from "../../shared/results/export.ts";
import type { Deployed } from "../e2e/deployed.ts";
import { inBulk } from "../stack/bulk.ts";
import { contextBeside } from "./beside.ts";

const RUNS = 1_000_000;
const LF = 10;
/** Bytes between two looks at the memory: about ten pages. */
const LOOK_BYTES = 12 * 1024 * 1024;

/**
 * Exports a million runs of an agent's owner: from the deployed Worker, whose export must be whole, and in this process,
 * where the memory in use can be seen. Returns the most that it grows by beyond the first page, in KB.
 */
export async function exportOfAMillion(
  stack: Deployed,
  pool: Pool,
  owner: { id: string; token: string },
  agentId: string,
): Promise<number> {
  await insertRuns(pool, owner.id, agentId);
  const headers = { authorization: `Bearer ${owner.token}`, "cf-connecting-ip": "10.4.0.1" };
  const { body } = await fetch(`${stack.url}/api/v1/runs/export.csv`, { headers });
  await read(body, () => undefined);

  const ctx = await contextBeside(stack);
  const file = await exportRuns(ctx, { kind: "key", userId: owner.id, keyId: "", scope: "read" }, null);
  let start: number | null = null;
  let most = 0;
  await read(streamed(ctx, file), () => {
    const used = memoryInUse();
    start ??= used;
    most = Math.max(most, used - start);
  });
  return most / 1024;
}

async function insertRuns(pool: Pool, ownerId: string, agentId: string): Promise<void> {
  await pool.query(
    inBulk(
      ["runs"],
      `truncate runs cascade;
       insert into runs (agent_id, task_id, user_id, status, trigger, scope, passed, latency_ms, correctness,
         evidence_cost_usd, serving_model, evidence_signed, started_at, finalized_at)
       select '${agentId}', (select id from tasks where not is_secret limit 1), '${ownerId}', 'completed', 'manual', 'personal',
         true, n % 9000, 1, 0.001234, 'vendor/model-' || n % 9, true, now(), now() from generate_series(1, ${RUNS}) n`,
    ),
  );
  await pool.query("vacuum analyze runs");
}

/** Reads an export to its end and lets it go; `look` is called after the first page and then every dozen megabytes. */
async function read(body: ReadableStream<Uint8Array> | null, look: () => void): Promise<void> {
  if (body === null) throw new Error("the export has no body");
  let lines = 0;
  let unseen = LOOK_BYTES;
  for await (const piece of body) {
    for (let at = piece.indexOf(LF); at >= 0; at = piece.indexOf(LF, at + 1)) lines += 1;
    unseen += piece.length;
    if (unseen < LOOK_BYTES) continue;
    unseen = 0;
    look();
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
