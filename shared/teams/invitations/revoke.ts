import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../../db/change.ts";
import { team_invitations } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { notFound, Problem } from "../../platform/problem.ts";
import { takeTurn } from "../turns.ts";
import { noTeam, notAllowed, teamFor } from "../view.ts";

const REVOCATION = verdict({
  forbidden: sql`not t.allowed`,
  no_invitation: sql`i.id is null`,
  accepted: sql`i.accepted_at is not null`,
});

/**
 * Revokes an invitation, which frees its seat; doing it again changes nothing. Throws 404 for the workspace or the
 * invitation, `forbidden`, and `already_member` for one that was accepted.
 */
export async function revokeInvitation(
  ctx: Context,
  { userId }: SessionPrincipal,
  teamId: string,
  invitationId: string,
): Promise<void> {
  await change(ctx, {
    lock: takeTurn(sql`${teamId}::uuid`, userId),
    parts: sql`with target as (
      select i.id, ${REVOCATION.sql} as outcome from (${teamFor("manage_members", userId, teamId)}) t
        left join ${team_invitations} i on i.team_id = t.id and i.id = ${invitationId}::uuid
    ), revoked as (
      update ${team_invitations} i set revoked_at = ${ctx.now().toISOString()}::timestamptz from target g
      where i.id = g.id and g.outcome = 'done' and i.revoked_at is null
    )`,
    result: sql`select jsonb_build_object('outcome', g.outcome) as result from target g`,
    verdict: REVOCATION,
    done: z.object({}),
    refusals: {
      not_found: noTeam,
      forbidden: () => notAllowed("revoking invitations"),
      no_invitation: () => notFound("invitation"),
      accepted: () => new Problem("already_member", "The invitation has been accepted; remove the member instead."),
    },
  });
}
