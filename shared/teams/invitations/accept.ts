import { sql } from "drizzle-orm";
import * as z from "zod";
import { ALWAYS, change } from "../../db/change.ts";
import { team_invitations, team_members, teams, users } from "../../db/schema/index.ts";
import { invalidToken } from "../../identity/email-token.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";
import { TeamRead } from "../shown.ts";
import { takeTurn } from "../turns.ts";
import { isOpen, roleOf, teamJson } from "../view.ts";

/**
 * Makes the caller a member by the token that was mailed to the caller's address. The member takes the seat that the
 * invitation held. Where the caller has joined by this token before, the workspace is returned once more. Throws
 * `invalid_token` for a token that is unknown, revoked, replaced, expired, used or was mailed to another address.
 */
export async function acceptInvitation(
  ctx: Context,
  { userId }: SessionPrincipal,
  token: string,
): Promise<z.output<typeof TeamRead>> {
  const hash = sha256(token);
  const { team } = await change(ctx, {
    lock: takeTurn(sql`select i.team_id from ${team_invitations} i where i.token_hash = ${hash}`, userId),
    parts: sql`with target as (
      select i.* from ${team_invitations} i join ${users} u on u.id = ${userId}::uuid and u.email = i.email
      where i.token_hash = ${hash} and (${isOpen(ctx)} or i.accepted_at is not null and exists (
        select from ${team_members} m where m.team_id = i.team_id and m.user_id = u.id))
    ), joined as (
      insert into ${team_members} (team_id, user_id, role)
      select g.team_id, ${userId}::uuid, g.role from target g where g.accepted_at is null
      on conflict do nothing
    ), accepted as (
      update ${team_invitations} i set accepted_at = ${ctx.now().toISOString()}::timestamptz from target g
      where i.id = g.id and g.accepted_at is null
    )`,
    result: sql`select jsonb_build_object('outcome', ${ALWAYS.sql},
        'team', ${teamJson(ctx, sql`coalesce(${roleOf(userId)}, g.role)`)}) as result
      from target g join ${teams} t on t.id = g.team_id`,
    verdict: ALWAYS,
    done: z.object({ team: TeamRead }),
    refusals: { not_found: invalidToken },
  });
  return team;
}
