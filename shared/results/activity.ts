import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { RowPage } from "../db/page-result.ts";
import { agents, RUN_STATES, runs, screening_sessions, team_members } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { Instant } from "../platform/time.ts";
import { sessionJson } from "../runs/sessions.ts";
import { noTeam, teamFor } from "../teams/view.ts";

export const TeamActivityRead = z
  .object({
    kind: z.enum(["run", "screening_session", "member_joined", "agent_created"]),
    at: Instant.meta({
      description: "When the run or session was asked for, the member joined or the agent was created",
    }),
    user_id: z.uuid().nullable().meta({ description: "Who did it; null once that account is deleted" }),
    agent_id: z.uuid().nullable(),
    run_id: z.uuid().nullable().meta({ description: "Of a `run`, which belongs to no session" }),
    screening_session_id: z.uuid().nullable(),
    status: z.enum(RUN_STATES).nullable().meta({ description: "Of the run or session as it stands now" }),
  })
  .meta({ id: "TeamActivityRead" });

/**
 * A page of what happened in a workspace, newest first: runs and sessions of its agents that it paid for, members who
 * joined and are still there, agents that were created. `TeamActivityRead` is yet to parse its items. Throws 404 for a
 * workspace that the account is no member of.
 */
export async function listActivity(
  ctx: Context,
  userId: string,
  teamId: string,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<RowPage> {
  const result = await read(
    ctx,
    RowPage,
    sql`with team as (${teamFor("see", userId, teamId)}),
    a as (select a.* from ${agents} a join team on team.id = a.team_id),
    hits as (
      select 'run' as kind, r.id, r.created_at as at, r.user_id, r.agent_id from a
        join ${runs} r on r.agent_id = a.id and r.team_id = a.team_id where r.screening_session_id is null
      union all select 'screening_session', s.id, s.created_at, s.user_id, s.agent_id from a
        join ${screening_sessions} s on s.agent_id = a.id and s.team_id = a.team_id
      union all select 'member_joined', m.user_id, m.joined_at, m.user_id, null
        from ${team_members} m join team on team.id = m.team_id
      union all select 'agent_created', a.id, a.created_at, a.user_id, a.id from a
    ), paged as (select * from hits order by at desc, id desc limit ${size} offset ${(page - 1) * size})
    select jsonb_build_object('total', (select count(*) from hits), 'items', coalesce((
      select jsonb_agg(jsonb_build_object('kind', p.kind, 'at', p.at, 'user_id', p.user_id, 'agent_id', p.agent_id,
        'run_id', case p.kind when 'run' then p.id end,
        'screening_session_id', case p.kind when 'screening_session' then p.id end,
        'status', case p.kind when 'run' then (select r.status from ${runs} r where r.id = p.id)
          when 'screening_session' then (
            select ${sessionJson} ->> 'status' from ${screening_sessions} s where s.id = p.id) end
      ) order by p.at desc, p.id desc) from paged p), '[]')) as result
    from team`,
  );
  if (result === null) throw noTeam();
  return result;
}
