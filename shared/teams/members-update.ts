import { sql } from "drizzle-orm";
import type * as z from "zod";
import { team_members, users } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import type { TeamMemberUpdate } from "./schemas.ts";
import { takeTurn } from "./turns.ts";
import { memberJson, type MemberRow, noTeam, notAllowed, stillOwner, teamFor } from "./view.ts";

interface Outcome {
  outcome: "forbidden" | "no_member" | "owner" | "updated" | null;
  member: MemberRow | null;
}

/**
 * Gives a member another role; the owner keeps that role. Throws 404 for the workspace or the member, `forbidden`, and
 * `workspace_ownership` to an owner who would be something else.
 */
export async function updateMember(
  ctx: Context,
  userId: string,
  teamId: string,
  memberId: string,
  input: z.output<typeof TeamMemberUpdate>,
): Promise<MemberRow> {
  const ctes = sql`with target as (
    select t.id, case when not t.allowed then 'forbidden' when m.user_id is null then 'no_member'
      when m.role = 'owner' then 'owner' else 'updated' end as outcome
    from (${teamFor("manage_members", userId, teamId)}) t
      left join ${team_members} m on m.team_id = t.id and m.user_id = ${memberId}::uuid
  ), m as (
    update ${team_members} m set role = ${input.role} from target g
    where m.team_id = g.id and m.user_id = ${memberId}::uuid and g.outcome = 'updated' returning m.*
  )`;
  const result = sql`select jsonb_build_object('outcome', (select outcome from target),
    'member', (select ${memberJson} from m join ${users} u on u.id = m.user_id)) as result`;
  const { outcome, member } = await writeJson<Outcome>(ctx, ctes, result, takeTurn(sql`${teamId}::uuid`, userId));
  switch (outcome) {
    case null:
      throw noTeam();
    case "forbidden":
      throw notAllowed("changing members");
    case "no_member":
      throw notFound("member");
    case "owner":
      throw memberId === userId ? stillOwner() : notAllowed("changing its owner");
    default:
      return member as MemberRow;
  }
}
