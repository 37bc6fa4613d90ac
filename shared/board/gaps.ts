import { type SQL, sql } from "drizzle-orm";
import { memorisation_gaps, runs, task_scores, tasks } from "../db/schema/index.ts";
import { LATEST_CANARIES } from "../scoring/memorisation.ts";
import { type Aggregate, store } from "./aggregates.ts";

/** By how much more often an agent passes the published samples than their instances. */
export const GAPS: Aggregate = {
  table: memorisation_gaps,
  key: "agent_id",
  values: "gap, variance, lowest, highest, tasks, canary_runs",
  shown: "gap, variance, canary_runs",
  order: "agent_id",
};

/**
 * SQL: the gaps of those of the agents (a query of their `agent_id`) that ever had a canary: of their latest canaries at the
 * current suite version, those of tasks that have scored runs. It looks at cells that are stored.
 */
export function gaps(agents: SQL): SQL {
  // As a value, and not by `exists`, which the planner may answer for all agents that ever had a canary.
  const had = sql`(select r.canary from ${runs} r where r.agent_id = w.agent_id and r.canary limit 1)`;
  return sql`
    select w.agent_id, coalesce(avg(x.d), 0) as gap, coalesce(var_samp(x.d), 0) as variance, coalesce(min(x.d), 0) as lowest,
      coalesce(max(x.d), 0) as highest, count(x.d)::integer as tasks, coalesce(sum(x.n), 0)::integer as canary_runs
    from (${agents}) w left join lateral (
      select k.task_id, count(*) as n, avg(k.passed::integer)::double precision - s.success as d
      from (
        select r.task_id, r.passed from ${runs} r join ${tasks} t on t.id = r.task_id
        where r.agent_id = w.agent_id and r.canary and r.suite_version is not distinct from t.suite_version
        order by r.id desc limit ${LATEST_CANARIES}
      ) k join ${task_scores} s on s.agent_id = w.agent_id and s.task_id = k.task_id and s.period = 'all' and not s.simulated
      group by k.task_id, s.success
    ) x on true
    where ${had}
    group by w.agent_id`;
}

/** SQL: stores the gaps of these agents (a query of their `agent_id`), once their cells are stored. */
export function storeGaps(agents: SQL): SQL {
  return store(GAPS, gaps(agents));
}
