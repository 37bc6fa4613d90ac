import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { type Add, type Measured, ratio } from "./measure.ts";
import { fillRecords, type GrowingRead, recordReads } from "./records.ts";
import { fillWorld, growingReads, NO_TASK, type Viewers } from "./world.ts";

const SMALL = 1000;
export const LARGE = 1_000_000;
const ROUNDS = 10;
const WARM_UP = 2;

/** A request to the stack, which must be answered by a success. */
export type Reader = (read: GrowingRead) => Promise<unknown>;

/** Reads an agent by its primary key, by the bare Worker and the same driver. */
export type ByKey = (agent: string) => Promise<unknown>;

/**
 * How much longer each list and read takes among a million rows than among a thousand. Each is compared with a bare read by
 * primary key in turn with it, so that a machine whose speed drifts between the two sizes does not count; that also tells
 * how dear the dearest of them is. The million rows stay; returns whose they are.
 */
export async function growthOfReads(
  pool: Pool,
  accounts: Pick<Viewers, "owner" | "other">,
  read: Reader,
  byKey: ByKey,
  add: Add,
): Promise<Viewers> {
  const viewers = { ...accounts, agent: randomUUID(), team: randomUUID(), webhook: randomUUID() };
  const small = await measure(pool, viewers, read, byKey, SMALL);
  const large = await measure(pool, viewers, read, byKey, LARGE);
  for (const [name, { value, spread }] of large) {
    const among = small.get(name)?.value ?? Number.NaN;
    const grown = { value: value / among, spread: { min: spread.min / among, max: spread.max / among } };
    add({ name: `${name} among 1M / among 1k`, ...grown, unit: "×", kind: "most", budget: 2 });
  }
  const [slowest, { value, spread }] = [...large].reduce((a, b) => (b[1].value > a[1].value ? b : a));
  add({
    name: `the slowest of these, ${slowest}, among 1M / a bare read by key`,
    value,
    spread,
    unit: "×",
    kind: "most",
    budget: 5,
  });
  return viewers;
}

/** How much longer than a bare read by primary key each of the lists and reads takes among so many rows. */
async function measure(
  pool: Pool,
  viewers: Viewers,
  read: Reader,
  byKey: ByKey,
  size: number,
): Promise<Map<string, Measured>> {
  const sql = (text: string) => pool.query(text);
  await fillWorld(sql, viewers, size);
  await fillRecords(sql, viewers, size);
  const { rows } = await pool.query<Task>(TASK);
  const found = new Map<string, Measured>();
  for (const [name, asked] of Object.entries(allReads(viewers, rows[0] ?? NO_TASK, size))) {
    if (asked.before !== undefined) await sql(asked.before);
    const subject = () => read(asked);
    found.set(name, await ratio(ROUNDS, subject, () => byKey(viewers.agent), { warmUp: WARM_UP }));
  }
  return found;
}

type Task = typeof NO_TASK;

/** SQL: the task, with its suite, that reads are about. */
export const TASK = "select id, suite_id from tasks where not is_secret order by id limit 1";

/** All that is read of a world of this size, by name. */
export function allReads(viewers: Viewers, task: Task, size: number): Record<string, GrowingRead> {
  return {
    ...growingReads(viewers, task, size),
    ...recordReads(viewers, { task: task.id, suite: task.suite_id }),
  };
}
