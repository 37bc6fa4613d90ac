import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../../db/change.ts";
import { team_invitations, team_members, teams, users } from "../../db/schema/index.ts";
import { invalidToken } from "../../identity/email-token.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";
import { Problem } from "../../platform/problem.ts";
import { TeamRead } from "../shown.ts";
import { takeTurn } from "../turns.ts";
import { isOpen, roleOf, teamJson } from "../view.ts";

/** A workspace goes with its owner's account, unless others have joined: then the deletion would wait for them. */
const ACCEPTANCE = verdict({ leaving: sql`i.accepted_at is null and o.deletion_scheduled_for is not null` });

/**
 * Makes the caller a member by the token that was mailed to the caller's address. The member takes the seat that the
 * invitation held. Where the caller has joined by this token before, the workspace is returned once more. Throws
 * `invalid_token` for a token that is unknown, revoked, replaced, expired, used or was mailed to another address, and
 * `account_leaving` where the workspace's owner awaits the deletion of the account.
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
      select i.*, ${ACCEPTANCE.sql} as outcome
      from ${team_invitations} i join ${users} u on u.id = ${userId}::uuid and u.email = i.email
        join ${teams} t on t.id = i.team_id join ${users} o on o.id = t.owner_id
      where i.token_hash = ${hash} and (${isOpen(ctx)} or i.accepted_at is not null and exists (
        select from ${team_members} m where m.team_id = i.team_id and m.user_id = u.id))
    ), joined as (
      insert into ${team_members} (team_id, user_id, role)
      select g.team_id, ${userId}::uuid, g.role from target g
      where g.accepted_at is null and g.outcome = 'done'
      on conflict do nothing
    ), accepted as (
      update ${team_invitations} i set accepted_at = ${ctx.now().toISOString()}::timestamptz from target g
      where i.id = g.id and g.accepted_at is null and g.outcome = 'done'
    )`,
    result: sql`select jsonb_build_object('outcome', g.outcome,
        'team', ${teamJson(ctx, sql`coalesce(${roleOf(userId)}, g.role)`)}) as result
      from target g join ${teams} t on t.id = g.team_id`,
    verdict: ACCEPTANCE,
    done: z.object({ team: TeamRead }),
    refusals: {
      not_found: invalidToken,
      leaving: () =>
        new Problem(
          "account_leaving",
          "The account of the workspace's owner awaits its deletion, and the workspace with it. Ask the owner to keep it.",
        ),
    },
  });
  return team;
}
