import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../db/change.ts";
import { agents, screening_schedules } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { notAllowed } from "./refusals.ts";
import { visibleSchedules } from "./view.ts";

const REMOVAL = verdict({ forbidden: sql`not s.allowed` });

/** Deletes a schedule; what it started stays. Throws 404, 403. */
export async function removeSchedule(ctx: Context, { userId }: UserPrincipal, scheduleId: string): Promise<void> {
  await change(ctx, {
    parts: sql`with target as (
      select s.id, ${REMOVAL.sql} as outcome from (${visibleSchedules(userId)} and s.id = ${scheduleId}::uuid) s
    ), removed as (
      delete from ${screening_schedules} s using target t where s.id = t.id and t.outcome = 'done'
    )`,
    result: sql`select jsonb_build_object('outcome', t.outcome) as result from target t`,
    verdict: REMOVAL,
    done: z.object({}),
    refusals: { not_found: () => notFound("schedule"), forbidden: notAllowed },
  });
}

/** SQL: a part of a statement that deletes the schedules of the agents of the workspaces in `teamIds`, a query of ids. */
export function removeSchedulesOfTeams(teamIds: SQL): SQL {
  return sql`delete from ${screening_schedules} s using ${agents} a where s.agent_id = a.id and a.team_id in (${teamIds})`;
}
