import type { Pool } from "pg";
import type { Call } from "./beside.ts";
import { type Figure, measured, type Measured, median, ratio, time } from "./measure.ts";
import { startTimedAgent, type TimedAgent } from "./timed-agent.ts";

/** Runs of the main job, and how many calls the service makes to one agent at once. */
export const RUNS = 1000;
export const AT_ONCE = 4;
export const ROUNDS = 3;
/** The agents that are screened side by side, and the runs of each. */
const AGENTS = 20;
const RUNS_EACH = 50;
const PROBE_EVERY_MS = 100;
const IDLE_MS = 3000;
/** Single runs, one after the other. */
const SINGLE_RUNS = 25;

/** What the lines stand on: the account that owns the agents, the database beside the service, and public tasks. */
export interface Bench {
  owner: Call;
  pool: Pool;
  tasks: readonly string[];
}

/** The lines about whole screenings of agents that answer after 20 ms, measured from outside. */
export async function screeningFigures(bench: Bench): Promise<Figure[]> {
  const agent = await startTimedAgent();
  try {
    const job = await mainJob(bench, agent);
    await agent.seen();
    const crowd = await manyAgents(bench, agent);
    return [
      {
        name: `screening of ${RUNS} runs / the same calls in a bare loop of four`,
        ...job,
        unit: "×",
        kind: "most",
        budget: 1.8,
      },
      {
        name: `${AGENTS} agents at once / the same calls in a bare loop, four for each`,
        ...crowd.job,
        unit: "×",
        kind: "most",
        budget: CROWD_BUDGET,
      },
      { name: "GET me during that / before it", ...crowd.account, unit: "×", kind: "most", budget: 2 },
      {
        name: "recorded latency during that - 1.1 × the agent's own",
        ...crowd.latency,
        unit: "ms",
        kind: "most",
        budget: 5,
      },
      {
        name: "a run from its submission to its end - what the agent saw",
        ...(await singleRuns(bench, agent)),
        unit: "ms",
        kind: "most",
        budget: SINGLE_BUDGET_MS,
      },
    ];
  } finally {
    agent.stop();
  }
}

/**
 * Two and a half times the runs a second of commit 29606fd, which took 33 (25 to 39) times as long as the bare loop where
 * both were measured in turn on an idle machine.
 */
const CROWD_BUDGET = 13;
/** Two deliveries of the local queue, five round trips to the database, and what is done between them. */
const SINGLE_BUDGET_MS = 60;

/** A screening of one agent, over as many calls as the service makes at once in a loop without anything else. */
async function mainJob(bench: Bench, agent: TimedAgent): Promise<Measured> {
  return ratio(
    ROUNDS,
    () => screenOnce(bench, agent),
    () => bareLoop(agent, RUNS, AT_ONCE),
    { warmUp: 1 },
  );
}

/** The main job: a screening of an agent of its own, from its submission to its end. */
export async function screenOnce(bench: Bench, agent: TimedAgent): Promise<void> {
  const id = await addAgent(bench, agent);
  await screenAll(bench, [id], bench.tasks, RUNS / bench.tasks.length);
}

/** Many agents at once: their runs over a bare loop, the account's reads meanwhile, and how far recorded latencies are off. */
async function manyAgents(
  bench: Bench,
  agent: TimedAgent,
): Promise<{ job: Measured; account: Measured; latency: Measured }> {
  const account = () => time(() => bench.owner("GET", "/api/v1/auth/me"));
  const jobs: number[] = [];
  const reads: number[] = [];
  const off: number[] = [];
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bare = await time(() => bareLoop(agent, AGENTS * RUNS_EACH, AGENTS * AT_ONCE));
    const ids = await Promise.all(Array.from({ length: AGENTS }, () => addAgent(bench, agent)));
    const idle = await during(() => new Promise((resolve) => setTimeout(resolve, IDLE_MS)), account);
    let job = 0;
    const screened = async () => {
      job = await time(() => screenAll(bench, ids, bench.tasks.slice(0, RUNS_EACH / 2), 2));
    };
    const busy = await during(screened, account);
    const late = await differences(bench, agent);
    if (round === 0) continue;
    jobs.push(job / bare);
    reads.push(median(busy) / median(idle));
    off.push(...late);
  }
  return { job: measured(jobs), account: measured(reads), latency: measured(off) };
}

/** What a read took each time, in milliseconds, made at one rhythm from the beginning of `work` to its end. */
async function during(work: () => Promise<void>, read: () => Promise<number>): Promise<number[]> {
  const reads: Promise<number>[] = [];
  const probe = setInterval(() => reads.push(read()), PROBE_EVERY_MS);
  await work();
  clearInterval(probe);
  return Promise.all(reads);
}

/** By how many milliseconds each run's recorded latency is longer than 1.1 times what the agent saw of it. */
async function differences({ pool }: Bench, agent: TimedAgent): Promise<number[]> {
  const seen = await agent.seen();
  const { rows } = await pool.query<{ id: string; latency_ms: number }>(
    "select id, latency_ms from runs where id = any($1::uuid[])",
    [[...seen.keys()]],
  );
  return rows.map(({ id, latency_ms }) => latency_ms - 1.1 * (seen.get(id) ?? Number.NaN));
}

/** Single runs, each from the request that submits it until the database shows its end, less what the agent took. */
async function singleRuns(bench: Bench, agent: TimedAgent): Promise<Measured> {
  const id = await addAgent(bench, agent);
  await agent.seen();
  const took: number[] = [];
  for (let n = 0; n < SINGLE_RUNS; n += 1) {
    const started = performance.now();
    const { body } = await bench.owner("POST", "/api/v1/runs", { agent_id: id, task_id: bench.tasks[0] });
    await over(bench, "runs where finalized_at is null and id", [body.id]);
    const whole = performance.now() - started;
    took.push(whole - ((await agent.seen()).get(body.id) ?? Number.NaN));
  }
  return measured(took);
}

async function addAgent({ owner }: Bench, { url }: TimedAgent): Promise<string> {
  // An owner's agents have names of their own.
  const name = `Screened ${crypto.randomUUID()}`;
  const { status, text, body } = await owner("POST", "/api/v1/agents", { name, endpoint: `${url}/run` });
  if (status !== 201) throw new Error(`no agent: ${text}`);
  return body.id;
}

/** Submits a batch for each agent, and waits until all sessions have finished. */
async function screenAll(bench: Bench, agents: string[], task_ids: readonly string[], repeats: number): Promise<void> {
  const batches = await Promise.all(
    agents.map((agent_id) => bench.owner("POST", "/api/v1/runs/batch", { agent_id, task_ids, repeats })),
  );
  const refused = batches.find(({ status }) => status !== 200);
  if (refused !== undefined) throw new Error(`no batch: ${refused.text}`);
  const sessions = batches.map(({ body }) => body[0].screening_session_id);
  await over(bench, "screening_sessions where finished_at is null and id", sessions);
}

/** Looks until none of these is open any more: seldom enough that looking costs next to nothing. */
async function over({ pool }: Bench, open: string, ids: readonly string[]): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(`select from ${open} = any($1::uuid[]) limit 1`, [ids]);
    if (rowCount === 0) return;
    await new Promise((resolve) => setTimeout(resolve, ids.length > 1 ? 25 : 5));
  }
}

/** The same calls, so many at once, and nothing else. */
async function bareLoop({ url }: TimedAgent, calls: number, atOnce: number): Promise<void> {
  let left = calls;
  const loop = async () => {
    while ((left -= 1) >= 0) await (await fetch(`${url}/run`, { method: "POST", body: "{}" })).text();
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
}
