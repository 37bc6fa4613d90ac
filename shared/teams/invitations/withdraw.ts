import { type SQL, sql } from "drizzle-orm";
import { team_invitations } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { isOpen } from "../view.ts";

/**
 * SQL: a part of a statement that revokes the open invitations that members sent, `senders` being a query of their
 * `team_id` and `user_id`: who may invite nobody any more makes nobody a member by what was sent before. Run it under
 * `takeTurn`, so that an invitation is accepted before this or not at all.
 */
export function withdrawInvitations(ctx: Context, senders: SQL): SQL {
  return sql`update ${team_invitations} i set revoked_at = ${ctx.now().toISOString()}::timestamptz from (${senders}) s
    where i.team_id = s.team_id and i.invited_by = s.user_id and ${isOpen(ctx)}`;
}
