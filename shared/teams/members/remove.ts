import { sql } from "drizzle-orm";
import { team_members } from "../../db/schema/index.ts";
import { writeJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { takeTurn } from "../turns.ts";
import { noTeam, notAllowed, stillOwner, teamFor } from "../view.ts";

/**
 * Takes somebody out of a workspace: oneself, or another with the right to. What the member made there stays there.
 * Throws 404 for the workspace or the member, `forbidden`, and `workspace_ownership` to an owner who would leave.
 */
export async function removeMember(ctx: Context, userId: string, teamId: string, memberId: string): Promise<void> {
  const ctes = sql`with target as (
    select t.id, case when not t.allowed and ${memberId}::uuid <> ${userId}::uuid then 'forbidden'
      when m.user_id is null then 'no_member' when m.role = 'owner' then 'owner' else 'removed' end as outcome
    from (${teamFor("manage_members", userId, teamId)}) t
      left join ${team_members} m on m.team_id = t.id and m.user_id = ${memberId}::uuid
  ), removed as (
    delete from ${team_members} m using target g
    where m.team_id = g.id and m.user_id = ${memberId}::uuid and g.outcome = 'removed'
  )`;
  const result = sql`select to_jsonb((select outcome from target)) as result`;
  const lock = takeTurn(sql`${teamId}::uuid`, userId);
  const outcome = await writeJson<"forbidden" | "no_member" | "owner" | "removed" | null>(ctx, ctes, result, lock);
  switch (outcome) {
    case null:
      throw noTeam();
    case "forbidden":
      throw notAllowed("removing members");
    case "no_member":
      throw notFound("member");
    case "owner":
      throw memberId === userId ? stillOwner() : notAllowed("removing its owner");
    case "removed":
  }
}
