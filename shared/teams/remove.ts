import { sql } from "drizzle-orm";
import {
  agents,
  scorecards,
  screening_schedules,
  team_invitations,
  team_members,
  teams,
  webhooks,
} from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { Problem } from "../platform/problem.ts";
import { takeTurn } from "./turns.ts";
import { noTeam, notAllowed, teamFor } from "./view.ts";

/**
 * Deletes a workspace without active agents: members, invitations, scorecards, schedules and webhooks go. A nameless row
 * that nobody sees stays for the runs that recorded it. Throws 404, `forbidden`, `workspace_not_empty`.
 */
export async function removeTeam(ctx: Context, userId: string, teamId: string): Promise<void> {
  const ctes = sql`with target as (
    select t.id, case when not t.allowed then 'forbidden'
      when exists (select from ${agents} a where a.team_id = t.id and a.is_active) then 'not_empty'
      else 'deleted' end as outcome
    from (${teamFor("own", userId, teamId)}) t
  ), gone as (
    update ${teams} t set name = 'Deleted workspace' from target g where t.id = g.id and g.outcome = 'deleted' returning t.id
  ), members as (
    delete from ${team_members} m using gone g where m.team_id = g.id
  ), invitations as (
    delete from ${team_invitations} i using gone g where i.team_id = g.id
  ), weightings as (
    delete from ${scorecards} s using gone g where s.team_id = g.id
  ), schedules as (
    delete from ${screening_schedules} s using ${agents} a, gone g where s.agent_id = a.id and a.team_id = g.id
  ), subscriptions as (
    delete from ${webhooks} w using gone g where w.team_id = g.id
  )`;
  const result = sql`select to_jsonb((select outcome from target)) as result`;
  const lock = takeTurn(sql`${teamId}::uuid`, userId);
  const outcome = await writeJson<"forbidden" | "not_empty" | "deleted" | null>(ctx, ctes, result, lock);
  if (outcome === null) throw noTeam();
  if (outcome === "forbidden") throw notAllowed("deleting it");
  if (outcome === "not_empty") {
    throw new Problem("workspace_not_empty", "Delete its active agents first, or move them to another workspace.");
  }
}
