import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/conditions.ts";
import { agents, task_scores } from "../db/schema/index.ts";
import { COIN_TOSS, repeatsFor, spreadOf, widthOf } from "../scoring/repeats.ts";
import type { RepeatsEstimate } from "./preflight-shown.ts";

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
    variance_within: spread.within,
    variance_between: spread.between,
    narrowest_width: widthOf(spread, count, Number.POSITIVE_INFINITY),
  };
}
