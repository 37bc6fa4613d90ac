import { sql } from "drizzle-orm";
import { team_invitations, team_members, teams, users } from "../../db/schema/index.ts";
import { writeJson } from "../../db/statement.ts";
import { invalidToken } from "../../identity/email-token.ts";
import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";
import { takeTurn } from "../turns.ts";
import { isOpen, roleOf, teamJson, type TeamRow } from "../view.ts";

/**
 * Makes the account a member by the token that was mailed to its address, which proves the address. The seat is the one
 * that the invitation held. Who is a member by this token gets the workspace again. Throws `invalid_token` for every
 * token that is unknown, revoked, replaced, expired, used or another address's.
 */
export async function acceptInvitation(ctx: Context, userId: string, token: string): Promise<TeamRow> {
  const hash = sha256(token);
  const ctes = sql`with given as (
    select i.* from ${team_invitations} i join ${users} u on u.id = ${userId}::uuid and u.email = i.email
    where i.token_hash = ${hash} and (${isOpen(ctx)} or i.accepted_at is not null and exists (
      select from ${team_members} m where m.team_id = i.team_id and m.user_id = u.id))
  ), joined as (
    insert into ${team_members} (team_id, user_id, role)
    select g.team_id, ${userId}::uuid, g.role from given g where g.accepted_at is null
    on conflict do nothing
  ), spent as (
    update ${team_invitations} i set accepted_at = ${ctx.now().toISOString()}::timestamptz from given g
    where i.id = g.id and g.accepted_at is null
  )`;
  const result = sql`select to_jsonb((select ${teamJson(ctx, sql`coalesce(${roleOf(userId)}, g.role)`)}
    from given g join ${teams} t on t.id = g.team_id)) as result`;
  const lock = takeTurn(sql`select i.team_id from ${team_invitations} i where i.token_hash = ${hash}`, userId);
  const team = await writeJson<TeamRow | null>(ctx, ctes, result, lock);
  if (team === null) throw invalidToken();
  return team;
}
