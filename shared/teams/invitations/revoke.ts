import { sql } from "drizzle-orm";
import { team_invitations } from "../../db/schema/index.ts";
import { writeJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { notFound, Problem } from "../../platform/problem.ts";
import { takeTurn } from "../turns.ts";
import { noTeam, notAllowed, teamFor } from "../view.ts";

/**
 * Takes an invitation back, which frees its seat; doing it again changes nothing. Throws 404 for the workspace or the
 * invitation, `forbidden`, and `already_member` for one that was accepted.
 */
export async function revokeInvitation(
  ctx: Context,
  userId: string,
  teamId: string,
  invitationId: string,
): Promise<void> {
  const ctes = sql`with target as (
    select i.id, case when not t.allowed then 'forbidden' when i.id is null then 'no_invitation'
      when i.accepted_at is not null then 'accepted' else 'revoked' end as outcome
    from (${teamFor("manage_members", userId, teamId)}) t
      left join ${team_invitations} i on i.team_id = t.id and i.id = ${invitationId}::uuid
  ), revoked as (
    update ${team_invitations} i set revoked_at = ${ctx.now().toISOString()}::timestamptz from target g
    where i.id = g.id and g.outcome = 'revoked' and i.revoked_at is null
  )`;
  const result = sql`select to_jsonb((select outcome from target)) as result`;
  const lock = takeTurn(sql`${teamId}::uuid`, userId);
  const outcome = await writeJson<"forbidden" | "no_invitation" | "accepted" | "revoked" | null>(
    ctx,
    ctes,
    result,
    lock,
  );
  switch (outcome) {
    case null:
      throw noTeam();
    case "forbidden":
      throw notAllowed("revoking invitations");
    case "no_invitation":
      throw notFound("invitation");
    case "accepted":
      throw new Problem("already_member", "The invitation was accepted; remove the member instead.");
    case "revoked":
  }
}
