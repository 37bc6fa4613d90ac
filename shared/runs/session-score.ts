import { type SQL, sql } from "drizzle-orm";
import { EFFICIENCY } from "../board/aggregates.ts";
import { runs, tasks } from "../db/schema/index.ts";

/**
 * SQL: the composite score of the session row `s` by its runs and no others, as `composite` of shared/scoring/score.ts gives
 * it; null without a run that says anything of the agent. A session has at most ten runs of a task, as many as are scored.
 */
export const sessionScore: SQL = sql`(
  select floor(avg(0.4 * x.c / x.n + 0.3 * (x.c + 1.0) / (x.n + 2) * (x.c + 2) / (x.n + 3) * (x.c + 3) / (x.n + 4)
      + 0.3 * x.cost_efficiency) * 10000 + 0.5 + 1e-7) / 100
  from (
    select count(*)::double precision as n, count(*) filter (where r.passed)::double precision as c,
      avg(coalesce(${EFFICIENCY}, 0)) as cost_efficiency
    from ${runs} r join ${tasks} t on t.id = r.task_id
    where r.screening_session_id = s.id and r.status in ('completed', 'failed') and not r.canary
      and r.failure_code is distinct from 'service_error'
    group by r.task_id
  ) x)`;
