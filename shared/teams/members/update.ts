import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../../db/change.ts";
import { team_members, users } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { withdrawInvitations } from "../invitations/withdraw.ts";
import { RIGHTS } from "../rights.ts";
import type { TeamMemberUpdate } from "../schemas.ts";
import { TeamMemberRead } from "../shown.ts";
import { takeTurn } from "../turns.ts";
import { memberJson, noTeam, notAllowed, stillOwner, teamFor } from "../view.ts";

const ROLE_CHANGE = verdict({
  forbidden: sql`not t.allowed`,
  no_member: sql`m.user_id is null`,
  owner: sql`m.role = 'owner'`,
});

/**
 * Gives a member another role; the owner's role can't be changed. With a role that manages no members the open
 * invitations that the member sent are revoked. Throws 404 for the workspace or the member, `forbidden`,
 * and `workspace_ownership` to owners who try to change their own.
 */
export async function updateMember(
  ctx: Context,
  { userId }: SessionPrincipal,
  teamId: string,
  memberId: string,
  input: z.output<typeof TeamMemberUpdate>,
): Promise<z.output<typeof TeamMemberRead>> {
  const invites = RIGHTS[input.role].includes("manage_members");
  const { member } = await change(ctx, {
    lock: takeTurn(sql`${teamId}::uuid`, userId),
    parts: sql`with target as (
      select t.id, ${ROLE_CHANGE.sql} as outcome
      from (${teamFor("manage_members", userId, teamId)}) t
        left join ${team_members} m on m.team_id = t.id and m.user_id = ${memberId}::uuid
    ), m as (
      update ${team_members} m set role = ${input.role} from target t
      where m.team_id = t.id and m.user_id = ${memberId}::uuid and t.outcome = 'done' returning m.*
    ), withdrawn as (${withdrawInvitations(ctx, sql`select team_id, user_id from m where not ${invites}::boolean`)})`,
    result: sql`select jsonb_build_object('outcome', t.outcome,
      'member', (select ${memberJson} from m join ${users} u on u.id = m.user_id)) as result from target t`,
    verdict: ROLE_CHANGE,
    done: z.object({ member: TeamMemberRead }),
    refusals: {
      not_found: noTeam,
      forbidden: () => notAllowed("changing members"),
      no_member: () => notFound("member"),
      owner: () => (memberId === userId ? stillOwner() : notAllowed("changing its owner")),
    },
  });
  return member;
}
