import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { type Add, type Measured, ratio } from "./measure.ts";
import { CALM, fillRecords, type GrowingRead, recordReads } from "./records.ts";
import { fillWorld, growingReads, NO_TASK, type Viewers } from "./world.ts";

const SMALL = 1000;
export const LARGE = 1_000_000;
const ROUNDS = 10;
/** How many of the dearest reads are measured more often, and how often: the greatest of many is mostly the noisiest. */
const DEAREST = 6;
const MORE_ROUNDS = 40;
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
  for (const [name, { value, spread }] of grown(small, large))
    add({ name: `${name} among 1M / among 1k`, value, spread, unit: "×", kind: "most", budget: 2 });
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

/** Agents that their owner gets, with a failed run each. */
const MORE_AGENTS = 500;

/**
 * How much longer what looks through the owner's agents takes for who has hundreds of them, compared as `growthOfReads`
 * does. They are gone when it is through.
 */
export async function growthOfOwnAgents(
  pool: Pool,
  { owner, agent }: Viewers,
  read: Reader,
  byKey: ByKey,
  add: Add,
): Promise<void> {
  const byOwner = (path: string): GrowingRead => ({ by: "owner", path: `/api/v1/${path}` });
  const reads = {
    "visible runs": byOwner("runs"),
    "visible runs that failed": byOwner("runs?status=failed"),
    "own personal runs that failed": byOwner("runs?scope=personal&status=failed"),
    "own agents": byOwner("agents"),
  };
  const measureAll = () => measureEach(reads, MORE_ROUNDS, read, () => byKey(agent), pool);
  const few = await measureAll();
  const { rows: made } = await pool.query<{ id: string }>(
    `with made as (
      insert into agents (user_id, name, connection_mode, is_public)
      select $1, 'One of many ' || n, 'mock', false from generate_series(1, $2) n returning id
    ), ran as (
      insert into runs (agent_id, task_id, user_id, status, failure_code, trigger, scope)
      select m.id, (select id from (${TASK}) t), $1, 'failed', 'agent_timeout', 'api', 'personal'
      from made m
    ) select id from made`,
    [owner, MORE_AGENTS],
  );
  await pool.query("analyze agents, runs");
  for (const [name, { value, spread }] of grown(few, await measureAll()))
    add({ name: `${name}, ${MORE_AGENTS} agents more / without`, value, spread, unit: "×", kind: "most", budget: 2 });
  await pool.query("delete from agents where id = any($1)", [made.map(({ id }) => id)]);
}

/** How much longer each took with more than with less. */
function grown(less: ReadonlyMap<string, Measured>, more: ReadonlyMap<string, Measured>): [string, Measured][] {
  return [...more].map(([name, { value, spread }]) => {
    const before = less.get(name)?.value ?? Number.NaN;
    return [name, { value: value / before, spread: { min: spread.min / before, max: spread.max / before } }];
  });
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
  const reads = allReads(viewers, rows[0] ?? NO_TASK, size);
  const measureSome = (some: typeof reads, rounds: number) =>
    measureEach(some, rounds, read, () => byKey(viewers.agent), pool);
  const found = await measureSome(reads, ROUNDS);
  const dearest = [...found].toSorted(([, a], [, b]) => b.value - a.value).slice(0, DEAREST);
  const names = new Set(dearest.map(([name]) => name));
  const some = Object.fromEntries(Object.entries(reads).filter(([name]) => names.has(name)));
  await pool.query(CALM);
  return new Map([...found, ...(await measureSome(some, MORE_ROUNDS))]);
}

/** How much longer than `base` each of these reads takes. */
async function measureEach(
  reads: Readonly<Record<string, GrowingRead>>,
  rounds: number,
  read: Reader,
  base: () => Promise<unknown>,
  pool: Pool,
): Promise<Map<string, Measured>> {
  const found = new Map<string, Measured>();
  for (const [name, asked] of Object.entries(reads)) {
    if (asked.before !== undefined) await pool.query(asked.before);
    found.set(name, await ratio(rounds, () => read(asked), base, { warmUp: WARM_UP }));
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
