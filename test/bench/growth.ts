import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { type Figure, ratio } from "./measure.ts";
import { fillWorld, growingReads, type Viewers } from "./world.ts";

const SMALL = 1000;
export const LARGE = 1_000_000;
const ROUNDS = 12;

/** A request to the stack: by the owner, or by anybody. */
export type Reader = (by: "owner" | "anybody", path: string) => Promise<unknown>;

/**
 * How much longer each list and read takes among a million rows than among a thousand. Each is compared with a read by
 * primary key in turn with it, so that a machine whose speed drifts between the two sizes does not count. The million
 * rows stay; returns whose they are.
 */
export async function growthOfReads(
  pool: Pool,
  accounts: Pick<Viewers, "owner" | "other">,
  read: Reader,
  add: (name: string, value: number, unit: Figure["unit"], kind: Figure["kind"], budget: number) => void,
): Promise<Viewers> {
  const viewers = { ...accounts, agent: randomUUID(), team: randomUUID(), webhook: randomUUID() };
  const small = await measure(pool, viewers, read, SMALL);
  const large = await measure(pool, viewers, read, LARGE);
  for (const [name, value] of large) {
    add(`growth of ${name}, 1k to 1M`, value / (small.get(name) ?? Number.NaN), "×", "most", 2);
  }
  return viewers;
}

/** How much longer than a read by primary key each of the lists and reads takes among so many rows. */
async function measure(pool: Pool, viewers: Viewers, read: Reader, size: number): Promise<Map<string, number>> {
  await fillWorld((text) => pool.query(text), viewers, size);
  const { rows } = await pool.query<{ id: string }>("select id from tasks where not is_secret order by id limit 1");
  const byKey = () => read("owner", `/api/v1/agents/${viewers.agent}`);
  const found = new Map<string, number>();
  for (const [name, { by, path }] of Object.entries(growingReads(viewers, rows[0]?.id ?? "", size))) {
    found.set(name, (await ratio(ROUNDS, () => read(by, path), byKey)).value);
  }
  return found;
}
