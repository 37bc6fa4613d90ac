import type { Pool } from "pg";
import type { Call } from "./beside.ts";
import type { TimedAgent } from "./timed-agent.ts";

/** Runs of the main job, and how many calls the service makes to one agent at once. */
export const RUNS = 1000;
export const AT_ONCE = 4;
export const ROUNDS = 3;
/** What the lines stand on: the account that owns the agents, the database beside the service, and public tasks. */
export interface Bench {
  owner: Call;
  pool: Pool;
  tasks: readonly string[];
  /** Waits until nothing is left of what came before. */
  settled(): Promise<void>;
  /** Has the queue deliver now what it would in this time. */
  skip(ms: number): Promise<void>;
}

/** Adds an agent of its own at this endpoint. */
export async function addAgent({ owner }: Pick<Bench, "owner">, endpoint: string): Promise<string> {
  // An owner's agents have names of their own.
  const name = `Screened ${crypto.randomUUID()}`;
  const { status, text, body } = await owner("POST", "/api/v1/agents", { name, endpoint });
  if (status !== 201) throw new Error(`no agent: ${text}`);
  return body.id;
}

/** Submits a batch for each agent, and waits until all sessions are over for whoever reads them. */
export async function screenAll(
  bench: Pick<Bench, "owner" | "pool">,
  agents: string[],
  task_ids: readonly string[],
  repeats: number,
): Promise<void> {
  const batches = await Promise.all(
    agents.map((agent_id) => bench.owner("POST", "/api/v1/runs/batch", { agent_id, task_ids, repeats })),
  );
  const refused = batches.find(({ status }) => status !== 200);
  if (refused !== undefined) throw new Error(`no batch: ${refused.text}`);
  const sessions = batches.map(({ body }) => body[0].screening_session_id);
  await over(bench, OPEN_SESSIONS, sessions);
}

/** SQL: a row if one of these runs has not ended. */
export const OPEN_RUNS = "select from runs where finalized_at is null and id = any($1::uuid[]) limit 1";

/**
 * SQL: a row if one of these sessions is not over yet. Where some of its runs were held back, its last run's end is not its
 * own: evidence, board and events come with the statement that tells which were canaries.
 */
export const OPEN_SESSIONS = `select from screening_sessions s where s.id = any($1::uuid[]) and (s.finished_at is null
  or exists (select from runs r where r.screening_session_id = s.id and r.canary is null)) limit 1`;

/** Looks until none of these is open any more: seldom enough that looking costs next to nothing. */
export async function over({ pool }: Pick<Bench, "pool">, open: string, ids: readonly string[]): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(open, [ids]);
    if (rowCount === 0) return;
    await new Promise((resolve) => setTimeout(resolve, ids.length > 1 ? 25 : 5));
  }
}

/** The same calls, so many at once, and nothing else. */
export async function bareLoop({ url }: TimedAgent, calls: number, atOnce: number): Promise<void> {
  let left = calls;
  const loop = async () => {
    while ((left -= 1) >= 0) await (await fetch(url, { method: "POST", body: "{}" })).text();
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
}
