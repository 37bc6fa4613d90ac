import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../../db/change.ts";
import { email_tokens, team_members, teams, users } from "../../db/schema/index.ts";
import { oweNotice } from "../../mail/owe-notice.ts";
import type { Context } from "../../platform/context.ts";
import { Problem } from "../../platform/problem.ts";
import { Instant } from "../../platform/time.ts";
import { confirmPassword, wrongPassword } from "../passwords/confirm.ts";
import { holds, invalidToken } from "../email-token.ts";
import type { DeletionRequest } from "../schemas.ts";
import type { DeletionRead } from "../shown.ts";
import { askAgain } from "./taken-back.ts";

/** For how many days a deletion can be taken back. */
const GRACE_DAYS = 14;

/** SQL: whether the account row `u` owns a workspace that others are members of. */
export const ownsShared: SQL = sql`exists (
  select from ${teams} t join ${team_members} m on m.team_id = t.id where t.owner_id = u.id and m.user_id <> u.id)`;

/**
 * Schedules the account for deletion at the end of the grace window, against its second factor; nothing is deleted yet,
 * and a deletion that is pending keeps its date. A mailed token works once. Throws `invalid_credentials`, `invalid_token`,
 * `workspace_ownership`, `forbidden` for a password where the account has none, `login_locked`.
 */
export async function requestDeletion(
  ctx: Context,
  userId: string,
  { password, confirmation_token: token = "" }: z.output<typeof DeletionRequest>,
): Promise<z.output<typeof DeletionRead>> {
  const now = ctx.now();
  const at = new Date(now.getTime() + GRACE_DAYS * 86_400_000).toISOString();
  const hash = password === undefined ? null : (await confirmPassword(ctx, userId, password, "/password")).hash;
  const usable = holds(ctx, "confirm_deletion", token);
  const confirmed =
    hash === null
      ? sql`u.password_hash is null and exists (select from ${email_tokens} t where ${usable})`
      : sql`u.password_hash = ${hash}`;
  const scheduling = verdict({ not_confirmed: sql`not a.confirmed`, shared: sql`a.shared` });
  const refuted = hash === null ? invalidToken : () => wrongPassword("/password");
  const { deletion_scheduled_for, is_new } = await change(ctx, {
    // Requests of one account take turns: each sees what those before it have written.
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    parts: sql`with target as (
      select a.id, ${scheduling.sql} as outcome from (
        select u.id, coalesce(${confirmed}, false) as confirmed, ${ownsShared} as shared
        from ${users} u where u.id = ${userId}::uuid
      ) a
    ), scheduled as (
      update ${users} u set deletion_scheduled_for = coalesce(u.deletion_scheduled_for, ${at}::timestamptz)
      from target t where u.id = t.id and t.outcome = 'done'
      returning u.*, old.deletion_scheduled_for is null as is_new
    ), spent as (
      update ${email_tokens} t set used_at = ${now.toISOString()}::timestamptz from scheduled u where ${usable}
    ), mailed as (${oweNotice(
      "deletion",
      sql`select u.id as user_id, 'deletion_scheduled' as notice, '' as title,
        'It will be deleted on ' || to_char(u.deletion_scheduled_for at time zone 'UTC', 'YYYY-MM-DD') || '.' as reason,
        null::uuid as page_id from scheduled u where u.is_new`,
    )})`,
    owes: ["mailed"],
    result: sql`select jsonb_build_object('outcome', t.outcome,
      'deletion_scheduled_for', (select deletion_scheduled_for from scheduled),
      'is_new', (select is_new from scheduled)) as result from target t`,
    verdict: scheduling,
    done: z.object({ deletion_scheduled_for: Instant, is_new: z.boolean() }),
    refusals: {
      not_found: refuted,
      not_confirmed: refuted,
      shared: () =>
        new Problem("workspace_ownership", "Hand over the workspaces that have other members, or delete them, first."),
    },
  });
  if (!is_new) await askAgain(ctx, { id: userId, at: deletion_scheduled_for });
  return { deletion_pending: true, deletion_scheduled_for };
}
