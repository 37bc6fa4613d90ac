import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { type Add, type Measured, ratio } from "./measure.ts";
import { fillWorld, growingReads, NO_TASK, type Viewers } from "./world.ts";

const SMALL = 1000;
export const LARGE = 1_000_000;
const ROUNDS = 12;

/** A request to the stack: by the owner, or by anybody. */
export type Reader = (by: "owner" | "anybody", path: string) => Promise<unknown>;

/**
 * How much longer each list and read takes among a million rows than among a thousand. Each is compared with a read by
 * primary key in turn with it, so that a machine whose speed drifts between the two sizes does not count; that also tells
 * how dear the dearest of them is. The million rows stay; returns whose they are.
 */
export async function growthOfReads(
  pool: Pool,
  accounts: Pick<Viewers, "owner" | "other">,
  read: Reader,
  add: Add,
): Promise<Viewers> {
  const viewers = { ...accounts, agent: randomUUID(), team: randomUUID(), webhook: randomUUID() };
  const small = await measure(pool, viewers, read, SMALL);
  const large = await measure(pool, viewers, read, LARGE);
  for (const [name, { value, spread }] of large) {
    const among = small.get(name)?.value ?? Number.NaN;
    const grown = { value: value / among, spread: { min: spread.min / among, max: spread.max / among } };
    add(`${name} among 1M / among 1k`, grown, "×", "most", 2);
  }
  const [slowest, { value, spread }] = [...large].reduce((a, b) => (b[1].value > a[1].value ? b : a));
  add(`the slowest of these, ${slowest}, among 1M / an agent by its key`, { value, spread }, "×", "most", 5);
  return viewers;
}

/** How much longer than a read by primary key each of the lists and reads takes among so many rows. */
async function measure(pool: Pool, viewers: Viewers, read: Reader, size: number): Promise<Map<string, Measured>> {
  await fillWorld((text) => pool.query(text), viewers, size);
  const { rows } = await pool.query<{ id: string; suite_id: string }>(
    "select id, suite_id from tasks where not is_secret order by id limit 1",
  );
  const byKey = () => read("owner", `/api/v1/agents/${viewers.agent}`);
  const found = new Map<string, Measured>();
  for (const [name, { by, path }] of Object.entries(growingReads(viewers, rows[0] ?? NO_TASK, size))) {
    found.set(name, await ratio(ROUNDS, () => read(by, path), byKey));
  }
  return found;
}
