import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../../db/change.ts";
import { team_members } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { withdrawInvitations } from "../invitations/withdraw.ts";
import { takeTurn } from "../turns.ts";
import { noTeam, notAllowed, stillOwner, teamFor } from "../view.ts";

const MEMBER_REMOVAL = verdict({
  forbidden: sql`not t.allowed and not t.leaving`,
  no_member: sql`m.user_id is null`,
  owner: sql`m.role = 'owner'`,
});

/**
 * Removes a member from a workspace: the caller, or another member where the caller may manage members. What the member
 * made there stays there, but for invitations that nobody has accepted yet, which are revoked. Throws 404 for the workspace or the member, `forbidden`, and `workspace_ownership` to an owner
 * who tries to leave.
 */
export async function removeMember(
  ctx: Context,
  { userId }: SessionPrincipal,
  teamId: string,
  memberId: string,
): Promise<void> {
  await change(ctx, {
    lock: takeTurn(sql`${teamId}::uuid`, userId),
    parts: sql`with target as (
      select t.id, ${MEMBER_REMOVAL.sql} as outcome
      from (select *, ${memberId}::uuid = ${userId}::uuid as leaving from (${teamFor("manage_members", userId, teamId)}) t) t
        left join ${team_members} m on m.team_id = t.id and m.user_id = ${memberId}::uuid
    ), removed as (
      delete from ${team_members} m using target g
      where m.team_id = g.id and m.user_id = ${memberId}::uuid and g.outcome = 'done' returning m.team_id, m.user_id
    ), withdrawn as (${withdrawInvitations(ctx, sql`select team_id, user_id from removed`)})`,
    result: sql`select jsonb_build_object('outcome', g.outcome) as result from target g`,
    verdict: MEMBER_REMOVAL,
    done: z.object({}),
    refusals: {
      not_found: noTeam,
      forbidden: () => notAllowed("removing members"),
      no_member: () => notFound("member"),
      owner: () => (memberId === userId ? stillOwner() : notAllowed("removing its owner")),
    },
  });
}
