import { crowdFigures } from "./crowd.ts";
import { type Figure, measured, type Measured, ratio } from "./measure.ts";
import { addAgent, AT_ONCE, bareLoop, type Bench, OPEN_RUNS, over, ROUNDS, RUNS, screenAll } from "./sessions.ts";
import { startTimedAgent, type TimedAgent } from "./timed-agent.ts";

/** Single runs, one after the other. */
const SINGLE_RUNS = 25;
/** Two deliveries of the local queue, five round trips to the database, and what is done between them. */
const SINGLE_BUDGET_MS = 60;

/** The lines about whole screenings of agents that answer after 20 ms, measured from outside. */
export async function screeningFigures(bench: Bench): Promise<Figure[]> {
  const agent = await startTimedAgent();
  try {
    const job = await mainJob(bench, agent);
    await agent.seen();
    return [
      {
        name: `screening of ${RUNS} runs / the same calls in a bare loop of four`,
        ...job,
        unit: "×",
        kind: "most",
        budget: 1.8,
      },
      ...(await crowdFigures(bench, agent)),
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

/** A screening of one agent, over as many calls as the service makes at once in a loop without anything else. */
async function mainJob(bench: Bench, agent: TimedAgent): Promise<Measured> {
  return ratio(
    ROUNDS,
    () => screenOnce(bench, agent),
    () => bareLoop(agent, RUNS, AT_ONCE),
    { warmUp: 1, settle: bench.settled },
  );
}

/** The main job: a screening of an agent of its own, from its submission to its end. */
export async function screenOnce(bench: Bench, agent: TimedAgent): Promise<void> {
  const id = await addAgent(bench, agent.url);
  await screenAll(bench, [id], bench.tasks, RUNS / bench.tasks.length);
}

/** Single runs, each from the request that submits it until the database shows its end, less what the agent took. */
async function singleRuns(bench: Bench, agent: TimedAgent): Promise<Measured> {
  const id = await addAgent(bench, agent.url);
  await bench.settled();
  await agent.seen();
  const took: number[] = [];
  for (let n = 0; n < SINGLE_RUNS; n += 1) {
    const started = performance.now();
    const { body } = await bench.owner("POST", "/api/v1/runs", { agent_id: id, task_id: bench.tasks[0] });
    await over(bench, OPEN_RUNS, [body.id]);
    const whole = performance.now() - started;
    took.push(whole - ((await agent.seen()).get(body.id) ?? Number.NaN));
  }
  return measured(took);
}
