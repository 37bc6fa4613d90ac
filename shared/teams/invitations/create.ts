import { sql } from "drizzle-orm";
import * as z from "zod";
import { takeAllowance } from "../../allowances/take.ts";
import { change, telling, verdict } from "../../db/change.ts";
import { owe } from "../../db/owed.ts";
import { team_invitations, team_members, users } from "../../db/schema/index.ts";
import { stillHolds } from "../../identity/passwords/disown.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import { LINK_LASTS_MS } from "../../mail/message.ts";
import { wants } from "../../mail/owe-notice.ts";
import type { Context } from "../../platform/context.ts";
import { randomToken, sha256 } from "../../platform/crypto.ts";
import { encrypt } from "../../platform/encryption.ts";
import { newId } from "../../platform/ids.ts";
import { bodyProblem, endedMeanwhile, type Problem, quotaExceeded, usedUpToday } from "../../platform/problem.ts";
import type { TeamInvitationCreate } from "../schemas.ts";
import { TeamInvitationRead } from "../shown.ts";
import { takeTurn } from "../turns.ts";
import { invitationJson, isOpen, noTeam, notAllowed, SEATS, seatsUsed, teamFor } from "../view.ts";

/** How often an address is invited in a day (UTC), by all workspaces together: who is invited did not ask for the mail. */
const MOST_A_DAY = 5;

/** An address with an open invitation needs no further seat: the new invitation takes over the seat of the old one. */
const INVITATION = verdict(
  {
    ended: sql`not t.still_holds`,
    forbidden: sql`not t.allowed`,
    already_member: sql`t.is_member`,
    full: sql`t.used >= ${SEATS} and not t.is_invited`,
  },
  "too_often",
);

/**
 * Invites an address to a workspace by a mailed token of 256 bits, which is stored hashed; an address that is already
 * invited gets a new token instead of the old one, and no second seat. Throws 404, `forbidden`, `already_member`,
 * `quota_exceeded` without a free seat, and `rate_limited` for an address that was invited often enough today, by whomever
 * and whether or not an account has it. Whether an account wants no such mail counts where its address is verified: another
 * is silenced by nobody who merely registered it.
 */
export async function createInvitation(
  ctx: Context,
  principal: SessionPrincipal,
  teamId: string,
  { email, role }: z.output<typeof TeamInvitationCreate>,
): Promise<z.output<typeof TeamInvitationRead>> {
  const { userId } = principal;
  const token = randomToken();
  const mailId = newId(ctx.now());
  const mail = JSON.stringify({
    id: mailId,
    to: email,
    template: "workspace_invitation",
    token: encrypt(token, ctx.env.DATA_ENCRYPTION_KEYS, "mail"),
  });
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
  const day = ctx.now().toISOString().slice(0, 10);
  const expiresAt = sql`${new Date(ctx.now().getTime() + LINK_LASTS_MS.workspace_invitation).toISOString()}::timestamptz`;
  const { invitation } = await change(ctx, {
    lock: takeTurn(sql`${teamId}::uuid`, userId),
    parts: sql`with target as (
      select t.*, ${INVITATION.sql} as outcome from (
        select t.*, ${seatsUsed(ctx)} as used, ${stillHolds(principal)} as still_holds, exists (
            select from ${team_invitations} i
            where i.team_id = t.id and i.email = ${email} and ${isOpen(ctx)}) as is_invited,
          exists (select from ${team_members} m join ${users} u on u.id = m.user_id
            where m.team_id = t.id and u.email = ${email}) as is_member
        from (${teamFor("manage_members", userId, teamId)}) t
      ) t
    ), taken as (${takeAllowance(
      sql`select 'invited_address', ${sha256(email)}, ${day}, 1 from target where outcome = 'done'`,
      { condition: sql`w.used < ${MOST_A_DAY}` },
    )}), i as (
      insert into ${team_invitations} as i (team_id, email, role, token_hash, invited_by, created_at, expires_at)
      select g.id, ${email}, ${role}, ${sha256(token)}, ${userId}::uuid, ${now}, ${expiresAt}
      from target g where g.outcome = 'done' and exists (select from taken)
      on conflict (team_id, email) where accepted_at is null and revoked_at is null do update set role = excluded.role,
        token_hash = excluded.token_hash, invited_by = excluded.invited_by, created_at = excluded.created_at,
        expires_at = excluded.expires_at
      returning *
    ), mail as (${owe(
      "mail",
      mailId,
      sql`${mail}::jsonb || jsonb_build_object('params', jsonb_build_object(
        'inviter', coalesce(u.username, u.email), 'workspace', g.name, 'role', i.role))`,
      sql`from i join target g on g.id = i.team_id join ${users} u on u.id = i.invited_by
        where not exists (select from ${users} u where u.email = i.email and u.email_verified
          and not ${wants("invitation")})`,
    )})`,
    owes: ["mail"],
    result: sql`select jsonb_build_object('outcome',
        case when g.outcome = 'done' and not exists (select from taken) then 'too_often' else g.outcome end, 'used', g.used,
      'invitation', (select ${invitationJson(ctx)} from i)) as result from target g`,
    verdict: INVITATION,
    done: z.object({ invitation: TeamInvitationRead }),
    refusals: {
      not_found: noTeam,
      ended: endedMeanwhile,
      forbidden: () => notAllowed("inviting"),
      already_member: () =>
        bodyProblem(
          "already_member",
          "/email",
          "The account with this email is already a member; change its role instead.",
        ),
      too_often: () =>
        usedUpToday(ctx.now(), `This address was invited ${MOST_A_DAY} times today. Invite it again tomorrow.`),
      full: telling(z.object({ used: z.int() }), ({ used }) => noSeat(used)),
    },
  });
  return invitation;
}

function noSeat(used: number): Problem {
  return quotaExceeded(
    `All ${SEATS} seats are taken by members and open invitations. Remove a member or revoke an invitation first.`,
    { limit: SEATS, used },
  );
}
