import { sql } from "drizzle-orm";
import type * as z from "zod";
import { team_invitations, team_members, users } from "../../db/schema/index.ts";
import { writeJson } from "../../db/statement.ts";
import { endedMeanwhile, stillHolds } from "../../identity/passwords/disown.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { randomToken, sha256 } from "../../platform/crypto.ts";
import { encrypt } from "../../platform/encryption.ts";
import { newId } from "../../platform/ids.ts";
import { Problem } from "../../platform/problem.ts";
import { flush } from "../../db/outbox.ts";
import { owe, owed } from "../../db/owed.ts";
import type { Message } from "../../platform/message.ts";
import type { TeamInvitationCreate } from "../schemas.ts";
import { takeTurn } from "../turns.ts";
import { invitationJson, type InvitationRow, isOpen, noTeam, notAllowed, SEATS, seatsUsed, teamFor } from "../view.ts";

const LIFETIME_MS = 7 * 86_400_000;

interface Outcome {
  outcome: "ended" | "forbidden" | "already_member" | "full" | "invited" | null;
  used: number;
  invitation: InvitationRow | null;
  messages: Message[];
}

/**
 * Invites an address to a workspace by a mailed token of 256 bits, which is stored hashed; one that is invited already
 * gets a new token in place of the old one, and no second seat. Throws 404, `forbidden`, `already_member`,
 * `quota_exceeded` without a free seat.
 */
export async function createInvitation(
  ctx: Context,
  principal: SessionPrincipal,
  teamId: string,
  { email, role }: z.output<typeof TeamInvitationCreate>,
): Promise<InvitationRow> {
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
  const expiresAt = sql`${new Date(ctx.now().getTime() + LIFETIME_MS).toISOString()}::timestamptz`;
  const ctes = sql`with target as (
    select t.*, ${seatsUsed(ctx)} as used, exists (
        select from ${team_invitations} i where i.team_id = t.id and i.email = ${email} and ${isOpen(ctx)}) as renewed,
      exists (select from ${team_members} m join ${users} u on u.id = m.user_id
        where m.team_id = t.id and u.email = ${email}) as joined
    from (${teamFor("manage_members", userId, teamId)}) t
  ), judged as (
    select *, case when not ${stillHolds(principal)} then 'ended' when not allowed then 'forbidden' when joined then 'already_member'
      when used >= ${SEATS} and not renewed then 'full' else 'invited' end as outcome
    from target
  ), i as (
    insert into ${team_invitations} as i (team_id, email, role, token_hash, invited_by, created_at, expires_at)
    select j.id, ${email}, ${role}, ${sha256(token)}, ${userId}::uuid, ${now}, ${expiresAt}
    from judged j where j.outcome = 'invited'
    on conflict (team_id, email) where accepted_at is null and revoked_at is null do update set role = excluded.role,
      token_hash = excluded.token_hash, invited_by = excluded.invited_by, created_at = excluded.created_at,
      expires_at = excluded.expires_at
    returning *
  ), mailed as (${owe(
    "mail",
    mailId,
    sql`${mail}::jsonb || jsonb_build_object('params', jsonb_build_object(
      'inviter', coalesce(u.username, u.email), 'workspace', j.name, 'role', i.role))`,
    sql`from i join judged j on j.id = i.team_id join ${users} u on u.id = i.invited_by`,
  )})`;
  const result = sql`select jsonb_build_object('outcome', (select outcome from judged), 'used', (select used from judged),
    'invitation', (select ${invitationJson(ctx)} from i), 'messages', ${owed("mailed")}) as result`;
  const lock = takeTurn(sql`${teamId}::uuid`, userId);
  const { outcome, used, invitation, messages } = await writeJson<Outcome>(ctx, ctes, result, lock);
  switch (outcome) {
    case null:
      throw noTeam();
    case "ended":
      throw endedMeanwhile();
    case "forbidden":
      throw notAllowed("inviting");
    case "already_member":
      throw new Problem("already_member", "The account with this email is a member already; change its role instead.");
    case "full":
      throw new Problem(
        "quota_exceeded",
        `All ${SEATS} seats are taken by members and open invitations. Remove a member or revoke an invitation first.`,
        { members: { limit: SEATS, used, resets_at: null } },
      );
    default:
      ctx.defer(() => flush(ctx, messages));
      return invitation as InvitationRow;
  }
}
