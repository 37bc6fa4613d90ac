import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/conditions.ts";
import { agents, task_scores } from "../db/schema/index.ts";
import { COIN_TOSS, repeatsFor, spreadOf, widthOf } from "../scoring/repeats.ts";

/** What an estimate is asked for: the width to reach, and whose record to go by. */
export const estimateQuery = z
  .object({
    width: z.coerce.number().min(0.01).max(0.5).optional().meta({
      description:
        "Asks for `repeats_estimate`: how wide the 95% interval of the success rate may be; 0.1 is ± 5 points",
    }),
    agent_id: z.uuid().optional().meta({ description: "Whose record the estimate goes by; needs `width`" }),
  })
  .refine(({ width, agent_id }) => width !== undefined || agent_id === undefined, {
    path: ["width"],
    message: "agent_id is for the estimate: say the width to reach.",
    params: { code: "missing_field" },
  });

export const RepeatsEstimate = z
  .object({
    width: z.number(),
    basis: z.enum(["agent", "coin_toss"]).meta({
      description:
        "`agent`: the agent's scored real runs. `coin_toss`: without an agent or scored runs of it, every run passes by a " +
        "toss of a coin, the most that chance can do",
    }),
    tasks: z.number().int().meta({ description: "The agent's scored tasks, else the active ones (at most 100)" }),
    repeats: z
      .number()
      .int()
      .nullable()
      .meta({
        description:
          "Runs of each task that bring the interval to `width`: R with 2 t √((B + W / R) / tasks) ≤ width, where W is the " +
          "variance between runs of a task, B that between tasks and t Student's quantile for tasks - 1. Null where 1000 " +
          "don't: only more tasks help. A score counts the last 10 runs of a task",
      }),
    narrowest_width: z.number().meta({ description: "What the interval comes to with ever more repeats" }),
  })
  .meta({ id: "RepeatsEstimate" });

/** What the database says of the agent that an estimate is for. */
export const ScoredTasks = z.object({
  visible: z.boolean(),
  tasks: z.array(z.object({ n: z.int(), c: z.int() })),
});

/** SQL: the `ScoredTasks` of an agent for a viewer. */
export function scoredTasksOf(agentId: string, viewer: string | null): SQL {
  return sql`jsonb_build_object(
    'visible', exists (select from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}),
    'tasks', (select coalesce(jsonb_agg(jsonb_build_object('n', s.n, 'c', s.c)), '[]') from ${task_scores} s
      where s.agent_id = ${agentId}::uuid and s.period = 'all' and not s.simulated))`;
}

/** How many repeats bring the interval to `width`, by an agent's record; without a record, by tosses of a coin on `tasks` tasks. */
export function estimate(
  width: number,
  record: z.output<typeof ScoredTasks>["tasks"],
  tasks: number,
): z.output<typeof RepeatsEstimate> {
  const known = record.length > 0;
  const [spread, count] = known ? [spreadOf(record), record.length] : [COIN_TOSS, tasks];
  return {
    width,
    basis: known ? "agent" : "coin_toss",
    tasks: count,
    repeats: repeatsFor(width, spread, count),
    narrowest_width: widthOf(spread, count, Number.POSITIVE_INFINITY),
  };
}
