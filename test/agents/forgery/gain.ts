import * as z from "zod";
import { mean } from "../../../shared/scoring/mean.ts";
import { boundsOf } from "../../../shared/scoring/interval.ts";
import { cell, sampleVariance } from "../../../shared/scoring/score.ts";
import { ensured, type Ground } from "./ground.ts";

/** A board row, as far as forgeries show there. */
export const Row = z.looseObject({
  agent_id: z.string(),
  composite_score: z.number(),
  score_low: z.number(),
  score_high: z.number(),
  cost_efficiency: z.number(),
  evidence_cost_floor_applied: z.boolean(),
  variants: z.number(),
  memorised: z.boolean(),
  asked_runs: z.number().nullable(),
  uneven: z.boolean(),
  memorisation_gap: z.looseObject({}).nullable(),
});
export type Row = z.output<typeof Row>;

/** In points of the composite score; the interval of 95% is paired by task, and never of no width. */
export interface Gain {
  honest: number;
  forged: number;
  value: number;
  low: number;
  high: number;
}

const Page = z.object({ items: z.array(Row) });
const Runs = z.object({
  items: z.array(
    z.object({
      task_id: z.string(),
      status: z.string(),
      canary: z.boolean().nullable(),
      passed: z.boolean().nullable(),
      correctness: z.number().nullable(),
      latency_ms: z.number().nullable(),
      evidence_cost_usd: z.number().nullable(),
      evidence_cost_partial: z.boolean(),
      evidence_cost_source: z.string(),
      tool_calls_made: z.number().nullable(),
    }),
  ),
});

/** The row of an agent on the board, as anybody reads it. */
export async function rowOf({ anybody }: Pick<Ground, "anybody">, agent: string): Promise<Row> {
  const { items } = Page.parse(ensured(await anybody.call("GET", "/api/v1/leaderboard?period=all&page_size=100"), 200));
  const row = items.find(({ agent_id }) => agent_id === agent);
  if (row === undefined) throw new Error(`The board has no agent ${agent}.`);
  return row;
}

/** How much higher the forger scores than its honest twin. */
export async function gainOf(ground: Ground, twin: string, forger: string): Promise<Gain> {
  const [honest, forged] = [await rowOf(ground, twin), await rowOf(ground, forger)];
  const [ours, theirs] = [await scores(ground, forger), await scores(ground, twin)];
  const differences = [...ground.tasks.values()].map((id) => (ours.get(id) ?? 0) - (theirs.get(id) ?? 0));
  // The interval is made for shares of 0 to 1.
  const shares = differences.map((difference) => (difference + 1) / 2);
  const { low, high } = boundsOf({
    mean: mean(shares),
    variance: sampleVariance(shares),
    tasks: shares.length,
    lowest: Math.min(...shares),
    highest: Math.max(...shares),
  });
  const points = (share: number) => 100 * (2 * share - 1);
  return {
    honest: honest.composite_score,
    forged: forged.composite_score,
    value: forged.composite_score - honest.composite_score,
    low: points(low),
    high: points(high),
  };
}

/** An agent's own score at each task, from the runs that anybody can read; newest first, as scoring takes them. */
async function scores({ service, anybody, tasks }: Ground, agent: string): Promise<Map<string, number>> {
  const byTask = new Map<string, number>();
  const references = await service.sql<{ id: string; reference_cost_usd: number; reference_latency_ms: number }>(
    "select id, reference_cost_usd::float8, reference_latency_ms from tasks where id = any($1)",
    [[...tasks.values()]],
  );
  for (const { id, ...reference } of references) {
    const path = `/api/v1/runs?agent_id=${agent}&task_id=${id}&page_size=100`;
    const { items } = Runs.parse(ensured(await anybody.call("GET", path), 200));
    const { success, reliability, cost_efficiency } = cell(
      // A canary counts nowhere.
      items
        .filter(({ canary }) => canary !== true)
        .map((run) => ({
          passed: run.passed === true,
          correctness: run.correctness ?? 0,
          gradable: run.status === "completed",
          latency_ms: run.latency_ms,
          cost_usd:
            run.evidence_cost_partial || run.evidence_cost_source === "runner_aggregate" ? null : run.evidence_cost_usd,
          tool_calls_made: run.tool_calls_made,
        })),
      { ...reference, expected_tool_calls: null },
    );
    byTask.set(id, 0.4 * success + 0.3 * reliability + 0.3 * cost_efficiency);
  }
  return byTask;
}
