import { sql } from "drizzle-orm";
import type * as z from "zod";
import { agentOwner } from "../agents/conditions.ts";
import { read } from "../db/change.ts";
import { agents, certifications, isOpenRun, runs, screening_sessions, tasks } from "../db/schema/index.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { isAsked, runsMissing } from "./rules.ts";
import { REPEATS } from "./terms.ts";
import { CertifyStatusResponse } from "./shown.ts";

/**
 * How far the latest certification of an agent has come; `none` if it never had one. For the owner and all members of the
 * workspace: throws 404 for everybody else. A certification whose term has ended is `expired` from that moment on.
 */
export async function readStatus(
  ctx: Context,
  principal: SessionPrincipal,
  agentId: string,
): Promise<z.output<typeof CertifyStatusResponse>> {
  const status = await read(
    ctx,
    CertifyStatusResponse,
    sql`with latest as (
      select c.* from ${certifications} c where c.agent_id = ${agentId}::uuid order by c.id desc limit 1
    ), latest_runs as (
      select distinct on (r.position, r.repeat_index) r.position, r.status, r.passed, r.failure_code
      from latest c join ${runs} r on r.screening_session_id = c.screening_session_id
      order by r.position, r.repeat_index, r.failure_code is not distinct from 'service_error', r.id desc
    ), remaining as (
      select count(*) * ${REPEATS}::integer as runs
      from latest c join ${screening_sessions} s on s.id = c.screening_session_id
        cross join jsonb_array_elements(s.task_plan) p join ${tasks} t on t.id = (p ->> 'task_id')::uuid and ${isAsked}
      where c.status = 'paused_quota' and not exists (select from latest_runs m where m.position = (p ->> 'position')::integer)
    )
    select jsonb_build_object('agent_id', a.id, 'certification_id', c.id, 'status', case
        when c.id is null then 'none'
        when c.status = 'certified' and c.expires_at <= ${ctx.now().toISOString()}::timestamptz then 'expired'
        else c.status end,
      'screening_session_id', c.screening_session_id, 'paused_reason', c.paused_reason, 'score', c.score,
      'issued_at', c.issued_at, 'expires_at', c.expires_at,
      'runs_missing', case when c.status = 'not_certified' then ${runsMissing} else 0 end,
      'progress', (select jsonb_build_object('total', count(*) + (select runs from remaining),
        'finished', count(*) filter (where not (${isOpenRun(sql`m.status`)})
          and m.failure_code is distinct from 'service_error'),
        'passed', count(*) filter (where m.passed)) from latest_runs m)) as result
    from ${agents} a left join latest c on true
    where a.id = ${agentId}::uuid and ${may("see", principal.userId, agentOwner)}`,
  );
  if (status === null) throw notFound("agent");
  return status;
}
