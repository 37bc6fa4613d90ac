import { type Figure, measured, type Measured, median, percentileOf, spreadOf, time } from "./measure.ts";
import { addAgent, type Bench, ROUNDS, screenAll } from "./sessions.ts";
import type { TimedAgent } from "./timed-agent.ts";

/** The agents that are screened side by side, and the runs of each. */
const AGENTS = 20;
const RUNS_EACH = 50;
/** Runs of each of as many agents that report by callback: one round of them, so that it takes seconds. */
const CALLBACKS_EACH = 20;
/** How often each task is asked. */
const REPEATS = 2;
const PROBE_EVERY_MS = 100;
const MINUTE_MS = 60_000;
const IDLE_MS = 3000;

/**
 * Runs a second: two and a half times the 59 of commit 29606fd. They stand for themselves: the same calls in a bare loop of
 * 80 took from 390 to 1,040 ms in one process, the less the longer it had run.
 */
const BUDGET = 147.5;

/** How far what is recorded of a run may be beyond what its agent saw: a tenth of that, and 5 ms. */
const ALLOWED = { share: 0.1, ms: 5 };

/** Twenty agents at once: their runs a second, the account's reads meanwhile, and how far recorded latencies are off. */
export async function crowdFigures(bench: Bench, agent: TimedAgent): Promise<Figure[]> {
  const account = () => time(() => bench.owner("GET", "/api/v1/auth/me"));
  const rates: number[] = [];
  const reads: number[] = [];
  const off: number[][] = [];
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    await bench.settled();
    const ids = await addAgents(bench, agent.url);
    await bench.settled();
    const idle = await during(() => new Promise((resolve) => setTimeout(resolve, IDLE_MS)), account);
    let job = 0;
    const screened = async () => {
      job = await time(() => screenAll(bench, ids, bench.tasks.slice(0, RUNS_EACH / REPEATS), REPEATS));
    };
    const busy = await during(screened, account);
    const late = await beyondAllowed(bench, agent);
    if (round === 0) continue;
    rates.push(((AGENTS * RUNS_EACH) / job) * 1000);
    reads.push(median(busy) / median(idle));
    off.push(late);
  }
  await bench.settled();
  const ids = await addAgents(bench, agent.callbackUrl);
  await screenAll(bench, ids, bench.tasks.slice(0, CALLBACKS_EACH / REPEATS), REPEATS);
  const reported = await beyondAllowed(bench, agent);
  // Each promise to report has a message for its end, which the next part would wait a minute for.
  await bench.skip(2 * MINUTE_MS);
  return [
    {
      name: `runs of ${AGENTS} agents at once that end a second`,
      ...measured(rates),
      unit: "runs/s",
      kind: "least",
      budget: BUDGET,
    },
    { name: "GET me during that / before it", ...measured(reads), unit: "×", kind: "most", budget: 2 },
    ...latencyFigures("during that", off),
    ...latencyFigures("by callback, as many agents at once", [reported]),
  ];
}

function addAgents(bench: Bench, endpoint: string): Promise<string[]> {
  return Promise.all(Array.from({ length: AGENTS }, () => addAgent(bench, endpoint)));
}

/** What a read took each time, in milliseconds, made at one rhythm from the beginning of `work` to its end. */
async function during(work: () => Promise<void>, read: () => Promise<number>): Promise<number[]> {
  const reads: Promise<number>[] = [];
  const probe = setInterval(() => reads.push(read()), PROBE_EVERY_MS);
  await work();
  clearInterval(probe);
  return Promise.all(reads);
}

/** By how much the recorded latency of each run is beyond what the agent saw of it, as a share of what it may be. */
async function beyondAllowed({ pool }: Bench, agent: TimedAgent): Promise<number[]> {
  const seen = await agent.seen();
  const { rows } = await pool.query<{ id: string; latency_ms: number }>(
    "select id, latency_ms from runs where id = any($1::uuid[]) and latency_ms is not null",
    [[...seen.keys()]],
  );
  if (rows.length === 0 || rows.length < seen.size)
    throw new Error(`${rows.length} of ${seen.size} runs have a latency`);
  return rows.map(({ id, latency_ms }) => shareOfAllowed(latency_ms, seen.get(id) ?? Number.NaN, agent.pace));
}

/**
 * By how much a recorded latency is beyond the agent's own, over the 10% + 5 ms that it may be, at this machine's pace.
 * @example
 * shareOfAllowed(34, 20, 1) // 2: 14 ms where 7 are allowed
 */
export function shareOfAllowed(recorded: number, own: number, pace: number): number {
  return (recorded - own) / (ALLOWED.share * own + ALLOWED.ms * pace);
}

/** Two lines: nearly every run has to be recorded as its agent saw it, so one in a hundred decides, and not the median. */
export function latencyFigures(when: string, rounds: readonly (readonly number[])[]): Figure[] {
  const against = "the agent's own, as a share of 10% + 5 ms";
  const line = (what: string, of: Measured): Figure => ({
    name: `recorded latency ${when}, ${what}`,
    ...of,
    unit: "×",
    kind: "most",
    budget: 1,
    against,
  });
  const medians = rounds.map((values) => median(values));
  return [
    line("99th percentile", percentileOf(rounds, 0.99)),
    line("median", { value: median(rounds.flat()), spread: spreadOf(medians) }),
  ];
}
