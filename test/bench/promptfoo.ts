import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import type { Bench } from "./beside.ts";
import { type Measured, measured, time } from "./measure.ts";
import { screenOnce } from "./screening.ts";
import { AT_ONCE, ROUNDS, RUNS } from "./sessions.ts";
import { startTimedAgent } from "./timed-agent.ts";

const LOOPBACK = fileURLToPath(new URL("./loopback.ts", import.meta.url));

/** What promptfoo tells of an evaluation, as far as it is needed. */
const Told = z.object({
  results: z.object({
    stats: z.object({ successes: z.int(), failures: z.int(), errors: z.literal(0), evaluationDurationMs: z.number() }),
  }),
});

/** What an evaluation took, in milliseconds. */
interface Took {
  /** From its command to its end, as long as somebody waits for it. */
  whole: number;
  /** By promptfoo's own clock, without its start and what it does at the end. */
  evaluation: number;
}

/**
 * A screening of one agent, over what promptfoo takes to ask the same agent the same prompts as often, so many at once. Both
 * keep their results, and each is as often the first of a pair.
 */
export async function evaluationRatios(
  bench: Bench,
  peers: string,
): Promise<{ whole: Measured; evaluation: Measured }> {
  const agent = await startTimedAgent();
  const folder = mkdtempSync(join(tmpdir(), "promptfoo-"));
  try {
    writeFileSync(join(folder, "config.json"), JSON.stringify(await configOf(bench, agent.url)));
    const whole: number[] = [];
    const evaluation: number[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const first = round % 2 === 0 ? await evaluate(bench, peers, folder) : null;
      const took = await time(() => screenOnce(bench, agent));
      const theirs = first ?? (await evaluate(bench, peers, folder));
      // The first round warms up.
      if (round === 0) continue;
      whole.push(took / theirs.whole);
      evaluation.push(took / theirs.evaluation);
    }
    return { whole: measured(whole), evaluation: measured(evaluation) };
  } finally {
    agent.stop();
    rmSync(folder, { recursive: true });
  }
}

/** The tasks as promptfoo takes them: each with its prompt and its answer, which has to be equal. */
async function configOf({ pool, tasks }: Bench, url: string): Promise<object> {
  const { rows } = await pool.query<{ prompt: string; input: unknown; expected: unknown }>(
    "select prompt, input, expected_output as expected from tasks where id = any($1::uuid[]) order by id",
    [tasks],
  );
  return {
    prompts: ["{{task}}"],
    providers: [
      {
        id: "http",
        config: {
          url,
          method: "POST",
          headers: { "content-type": "application/json" },
          body: { prompt: "{{prompt}}" },
          transformResponse: "json.output",
        },
      },
    ],
    tests: rows.map(({ prompt, input, expected }) => ({
      vars: { task: input === null ? prompt : `${prompt}\n\n${JSON.stringify(input)}` },
      assert: [{ type: "equals", value: typeof expected === "string" ? expected : JSON.stringify(expected) }],
    })),
  };
}

/** Has promptfoo ask the agent, with a folder as its home. */
async function evaluate({ tasks, settled }: Bench, peers: string, folder: string): Promise<Took> {
  // What the last screening left to the queue is no burden of promptfoo's.
  await settled();
  const [config, output] = [join(folder, "config.json"), join(folder, "output.json")];
  const repeats = RUNS / tasks.length;
  const options = ["--config", config, "--output", output, "--max-concurrency", `${AT_ONCE}`, "--repeat", `${repeats}`];
  const quiet = ["--no-cache", "--no-share", "--no-table", "--no-progress-bar"];
  const program = join(peers, "node_modules/promptfoo/dist/src/entrypoint.js");
  const started = performance.now();
  const child = spawn(process.execPath, [program, "eval", ...options, ...quiet], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      NODE_NO_WARNINGS: "1",
      // Told to keep to itself, it still tells once that it was told so.
      NODE_OPTIONS: `--import=${LOOPBACK}`,
      PROMPTFOO_CONFIG_DIR: folder,
      PROMPTFOO_CACHE_ENABLED: "false",
      PROMPTFOO_DISABLE_REMOTE_GENERATION: "true",
      PROMPTFOO_DISABLE_SHARING: "true",
      PROMPTFOO_DISABLE_TELEMETRY: "true",
      PROMPTFOO_DISABLE_UPDATE: "true",
      // An answer that is wrong is no failure of the evaluation.
      PROMPTFOO_FAILED_TEST_EXIT_CODE: "0",
    },
  });
  const [code] = await once(child, "exit");
  const whole = performance.now() - started;
  if (code !== 0) throw new Error(`promptfoo ended with ${String(code)}`);
  const { stats } = Told.parse(JSON.parse(readFileSync(output, "utf8"))).results;
  if (stats.successes + stats.failures !== RUNS)
    throw new Error(`promptfoo asked ${stats.successes + stats.failures} times`);
  return { whole, evaluation: stats.evaluationDurationMs };
}
