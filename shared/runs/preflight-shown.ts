import * as z from "zod";

const count = z.int();

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
    tasks: z.int().meta({ description: "The agent's scored tasks, else the active ones (at most 100)" }),
    repeats: z
      .int()
      .nullable()
      .meta({
        description:
          "Runs of each task that bring the interval to `width`: R with 2 t √((B + W / R) / tasks) ≤ width, where W is the " +
          "variance between runs of a task, B that between tasks and t Student's quantile for tasks - 1. Null where 1000 " +
          "don't: only more tasks help. A score counts the last 10 runs of a task",
      }),
    variance_within: z.number().meta({ description: "W: between runs of one task, the mean over the tasks" }),
    variance_between: z.number().meta({ description: "B: between the pass rates of the tasks" }),
    narrowest_width: z.number().meta({ description: "What the interval comes to with ever more repeats" }),
  })
  .meta({ id: "RepeatsEstimate" });

export const ScreeningPreflightRead = z
  .object({
    max_tasks_per_batch: count,
    max_repeats: count,
    max_runs_per_batch: count,
    max_concurrency_per_agent: count,
    max_task_time_limit_ms: count,
    max_response_bytes: count,
    active_tasks: count,
    estimated_max_duration_ms: count.meta({
      description: "The longest that a batch over all active tasks (at most 100), once each, can take",
    }),
    repeats_estimate: RepeatsEstimate.nullable().meta({ description: "Null without `width`" }),
  })
  .meta({ id: "ScreeningPreflightRead" });
