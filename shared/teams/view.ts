import { type SQL, sql } from "drizzle-orm";
import { allowances, team_invitations, team_members, teams, users } from "../db/schema/index.ts";
import { monthOf, planLimit } from "../plans/plans.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { isBeyond } from "./limits.ts";
import { type Action, KEY_ROLE, may } from "./rights.ts";

/** How many seats a workspace has. */
export const SEATS = 5;

/** The owner columns of the workspace row `t`, which owns itself, for `may`. */
const itself = { user_id: sql`null::uuid`, team_id: sql`t.id` };

/**
 * SQL: a query of a workspace: its columns, and whether the viewer may do `action` with it (`allowed`). It finds nothing
 * where the viewer may not see the workspace.
 */
export function teamFor(action: Action, viewer: string, teamId: string): SQL {
  return sql`select t.*, ${may(action, viewer, itself)} as allowed
    from ${teams} t where t.id = ${teamId}::uuid and ${may("see", viewer, itself)}`;
}

/** SQL: whether the invitation row `i` can still be accepted, and so holds a seat. */
export function isOpen(ctx: Pick<Context, "now">): SQL<boolean> {
  return sql`(i.accepted_at is null and i.revoked_at is null and i.expires_at > ${ctx.now().toISOString()}::timestamptz)`;
}

/** SQL: the seats of the workspace row `t` that are taken, by members and by open invitations. */
export function seatsUsed(ctx: Context): SQL<number> {
  return sql`((select count(*) from ${team_members} m where m.team_id = t.id)
    + (select count(*) from ${team_invitations} i where i.team_id = t.id and ${isOpen(ctx)}))::integer`;
}

/** SQL: the role of a viewer, or of the workspace's own key, in the workspace row `t`. */
export function roleOf(viewer: string): SQL {
  return sql`case when t.id = ${viewer}::uuid then ${KEY_ROLE} else
    (select m.role from ${team_members} m where m.team_id = t.id and m.user_id = ${viewer}::uuid) end`;
}

/** SQL: the JSON of the workspace row `t` for somebody whose role there is `role`. */
export function teamJson(ctx: Context, role: SQL, seats: SQL = seatsUsed(ctx)): SQL {
  return sql`json_build_object('id', t.id, 'name', t.name, 'role', ${role}, 'owner_id', t.owner_id,
    'seats_used', ${seats}, 'seats_limit', ${SEATS}::integer,
    'monthly_run_count', coalesce((select w.used from ${allowances} w
      where w.kind = 'team' and w.owner = t.id::text and w.period = ${monthOf(ctx.now())}), 0),
    'monthly_run_limit', (select case when ${isBeyond(ctx.now(), "t", sql`u.plan`)} then 0
      else ${planLimit(sql`u.plan`, "runs")} end from ${users} u where u.id = t.owner_id),
    'created_at', t.created_at)`;
}

/** SQL: the JSON of the member row `m` of the account row `u`. */
export const memberJson: SQL = sql`json_build_object('user_id', m.user_id, 'email', u.email, 'username', u.username,
  'role', m.role, 'joined_at', m.joined_at)`;

/** SQL: the JSON of the invitation row `i`, without the hash of its token. */
export function invitationJson(ctx: Context): SQL {
  return sql`json_build_object('id', i.id, 'email', i.email, 'role', i.role, 'invited_by', i.invited_by,
    'created_at', i.created_at, 'expires_at', i.expires_at, 'status', case
      when i.accepted_at is not null then 'accepted' when i.revoked_at is not null then 'revoked'
      when ${isOpen(ctx)} then 'pending' else 'expired' end)`;
}

/** The 404 for a workspace that the caller is not a member of. */
export function noTeam(): Problem {
  return notFound("workspace");
}

/** The 403 for a member whose role does not allow `what`. */
export function notAllowed(what: string): Problem {
  return new Problem("forbidden", `Your role in this workspace does not allow ${what}.`);
}

/** The 409 for the owner, who can neither leave nor get another role. */
export function stillOwner(): Problem {
  return new Problem("workspace_ownership", "Hand the workspace over to another member first, or delete it.");
}
