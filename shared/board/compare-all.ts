import * as z from "zod";
import { sideMarks } from "../agents/paired.ts";
import { holm } from "../scoring/holm.ts";
import { paired, pairsOf } from "../scoring/mcnemar.ts";
import { mean } from "../scoring/mean.ts";
import type { Passes } from "./passes.ts";

const count = z.int();
const difference = z.number().min(-1).max(1);
const pValue = z.number().min(0).max(1);

export const AgentComparisons = z
  .object({
    agents: z.array(
      z.object({
        agent_id: z.uuid(),
        name: z.string(),
        success_rate: z
          .number()
          .nullable()
          .meta({ description: "Mean over the tasks that all agents share; null without any" }),
        ...sideMarks,
      }),
    ),
    tasks: count.meta({ description: "Tasks at which all agents have scored real runs" }),
    pairs: z
      .array(
        z.object({
          a: z.uuid(),
          b: z.uuid(),
          tasks: count.meta({ description: "Tasks at which these two have scored real runs" }),
          difference: difference
            .nullable()
            .meta({ description: "Success rate of a less that of b over these tasks; null without any" }),
          low: difference.meta({ description: "95% interval, paired and clustered by task; -1 below two tasks" }),
          high: difference.meta({ description: "1 below two tasks" }),
          p_value: pValue.meta({ description: "Two-sided, by McNemar's exact test, as for two agents" }),
          p_adjusted: pValue.meta({
            description: "The same after Holm's correction for the number of pairs: judge by this one",
          }),
        }),
      )
      .meta({ description: "Each agent with each that follows it, in the order given" }),
    by_task: z
      .array(
        z.object({
          task_id: z.uuid(),
          title: z.string(),
          results: z
            .array(z.object({ runs: count, passed: count }).nullable())
            .meta({ description: "One for each agent, in the order given; null without a scored real run" }),
        }),
      )
      .meta({ description: "Every task at which at least one of the agents has scored real runs" }),
  })
  .meta({ id: "AgentComparisons" });

/** Compares agents pair by pair; `passes` are theirs in the order of `ids`. */
export function compareAll(ids: readonly string[], passes: readonly Passes[]): z.output<typeof AgentComparisons> {
  const sides = passes.map((own, index) => ({ ...own, id: ids[index] ?? "" }));
  const [first, ...others] = sides;
  const shared = [...(first?.tallies.keys() ?? [])].filter((task) => others.every(({ tallies }) => tallies.has(task)));
  const pairs = sides.flatMap((a, index) =>
    sides.slice(index + 1).map((b) => ({ a: a.id, b: b.id, ...paired(pairsOf(a.tallies, b.tallies)) })),
  );
  const adjusted = holm(pairs.map(({ mcnemar_p_value: p }) => p));
  return {
    agents: sides.map(({ id, name, memorised, uneven, tallies }) => ({
      agent_id: id,
      name,
      memorised,
      uneven,
      success_rate: shared.length === 0 ? null : mean(shared.map((task) => shareOf(tallies.get(task)))),
    })),
    tasks: shared.length,
    pairs: pairs.map((pair, index) => ({
      a: pair.a,
      b: pair.b,
      tasks: pair.tasks,
      difference: pair.difference,
      low: pair.difference_low,
      high: pair.difference_high,
      p_value: pair.mcnemar_p_value,
      p_adjusted: adjusted[index] ?? 1,
    })),
    by_task: byTask(passes),
  };
}

function byTask(passes: readonly Passes[]) {
  const titles = new Map(passes.flatMap(({ tallies }) => [...tallies].map(([task, { title }]) => [task, title])));
  return [...titles].map(([task_id, title]) => ({
    task_id,
    title,
    results: passes.map(({ tallies }) => {
      const tally = tallies.get(task_id);
      return tally === undefined ? null : { runs: tally.n, passed: tally.c };
    }),
  }));
}

function shareOf(tally: { n: number; c: number } | undefined): number {
  return tally === undefined ? 0 : tally.c / tally.n;
}
