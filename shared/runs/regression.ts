import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { accountOf } from "../agents/account.ts";
import { agentOwner } from "../agents/conditions.ts";
import { read, write } from "../db/change.ts";
import { agents, isFinishedRun, runs, screening_sessions } from "../db/schema/index.ts";
import { tellOnce } from "../mail/owe-notice.ts";
import type { Context } from "../platform/context.ts";
import { Instant } from "../platform/time.ts";
import { regression } from "../scoring/regression.ts";
import { announce } from "../webhooks/announce.ts";

const Passes = z.object({ total: z.int(), passed: z.int() });
const Comparison = z.object({
  agent_id: z.uuid(),
  suite_id: z.uuid().nullable(),
  finished_at: Instant,
  baseline_session_id: z.uuid(),
  before: Passes,
  after: Passes,
});

/** SQL: whether the run row `r` says how good its agent is: real, no canary, and ended neither by hand nor by our
 * fault. */
const isConclusive = sql`(${isFinishedRun(sql`r.status`)} and not r.simulated and r.canary is not true
  and r.failure_code is distinct from 'service_error')`;

/** SQL: how many conclusive runs the session row `alias` has, and how many of them passed. */
function passes(alias: "p" | "s"): SQL {
  return sql`(select jsonb_build_object('total', count(*), 'passed', count(*) filter (where r.passed))
    from ${runs} r where r.screening_session_id = ${sql.identifier(alias)}.id and ${isConclusive})`;
}

/**
 * Compares a finished session with the one of the same agent that finished before it over exactly the same tasks, and
 * announces a regression, and mails it to the agent's account. A session without a conclusive run is passed over, and so is
 * one of which runs were cancelled: what is left of it is not the same tasks. The event has the session's id, so that it is
 * announced once however often this is called.
 */
export async function detectRegression(ctx: Context, sessionId: string): Promise<void> {
  const isWhole = (alias: "p" | "s") => sql`exists (select from ${runs} r
      where r.screening_session_id = ${sql.identifier(alias)}.id and ${isConclusive})
    and not exists (select from ${runs} r where r.screening_session_id = ${sql.identifier(alias)}.id and r.status = 'cancelled')`;
  const found = await read(
    ctx,
    Comparison,
    // Materialized, so that none before it is looked at where the session itself says nothing.
    sql`with s as materialized (
      select s.*, planned_tasks(s.task_plan) as tasks from ${screening_sessions} s where s.id = ${sessionId}::uuid and ${isWhole("s")}
    )
    select jsonb_build_object('agent_id', s.agent_id, 'suite_id', s.suite_id, 'finished_at', s.finished_at,
      'baseline_session_id', p.id, 'before', ${passes("p")}, 'after', ${passes("s")}) as result
    from s cross join lateral (
      select p.id from ${screening_sessions} p
      where p.agent_id = s.agent_id and planned_tasks(p.task_plan) = s.tasks and p.finished_at is not null
        and (p.finished_at, p.id) < (s.finished_at, s.id) and ${isWhole("p")}
      order by p.finished_at desc, p.id desc limit 1
    ) p`,
  );
  if (found === null) return;
  const { agent_id, suite_id, finished_at, baseline_session_id, before, after } = found;
  const { regressed, previous_pass_rate, pass_rate, p_value } = regression(before, after);
  if (!regressed || pass_rate === null || previous_pass_rate === null) return;
  const percent = (rate: number) => `${Math.round(rate * 100)}%`;
  await write(ctx, {
    parts: sql`with ${tellOnce(
      "mailed",
      "regression",
      sql`select ${accountOf(agentOwner)} as user_id, 'agent_regressed' as notice, ${sessionId}::text as about,
        a.name as title, ${`${percent(pass_rate)} of its runs passed, ${percent(previous_pass_rate)} before.`}::text as reason,
        ${sessionId}::uuid as page_id
      from ${agents} a where a.id = ${agent_id}::uuid`,
    )}`,
    owes: ["mailed"],
    select: sql`select to_jsonb(count(*)) as result from mailed`,
    result: z.int(),
  });
  await announce(ctx, {
    id: sessionId,
    type: "regression.detected",
    created_at: finished_at,
    agent_id,
    data: {
      agent_id,
      screening_session_id: sessionId,
      baseline_session_id,
      suite_id,
      previous_pass_rate,
      pass_rate,
      p_value,
    },
  });
}
