import { sql } from "drizzle-orm";
import { deletedEmail, isDeleted } from "../../db/deleted.ts";
import {
  agents,
  allowances,
  analytics_events,
  api_keys,
  billing_customers,
  certifications,
  email_tokens,
  idempotency_keys,
  identities,
  listings,
  otlp_tokens,
  purchases,
  readiness_checks,
  refresh_tokens,
  revenue,
  scorecards,
  screening_schedules,
  seller_accounts,
  sessions,
  survey_responses,
  task_submissions,
  team_invitations,
  team_members,
  teams,
  users,
  waitlist_entries,
  webhook_deliveries,
  webhook_events,
  webhooks,
} from "../../db/schema/index.ts";
import { writeJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";
import { flush } from "../../db/outbox.ts";
import { owe, oweAnew, owed } from "../../db/owed.ts";
import type { Message } from "../../platform/message.ts";
import { forgetKey } from "../api-keys/api-key.ts";
import { ownsShared } from "./schedule.ts";
import { belongsTo } from "./finalise-view.ts";
import { denySessions } from "../sessions/deny.ts";

interface Outcome {
  closed: boolean;
  /** Hashes of the keys, and ids of the sessions, that died with it. */
  keys: string[];
  sessions: string[];
  /** That what it pays for is cancelled at the payment provider, and the pages at which it could pay are closed. */
  messages: Message[];
}

/**
 * Turns an account whose grace has elapsed into a nameless row, in one transaction: nobody can sign in any more, its
 * agents are off and unnamed, and the queue is owed the end of what it pays for. From here on nothing can be taken back.
 * Does nothing to one that was restored or has come to own a workspace with other members. Returns whether the account
 * is closed, by this call or before.
 */
export async function closeAccount(ctx: Context, userId: string): Promise<boolean> {
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
  const invitedOrOwned = sql`(i.email = (select o.email from ${users} o where o.id = ${userId}::uuid)
    or i.team_id in (select t.id from ${teams} t where t.owner_id = ${userId}::uuid))`;
  const ctes = sql`with u as (
    update ${users} u set email = ${deletedEmail}, username = null, password_hash = null, email_verified = false,
      plan = 'free', charges_enabled = false, payouts_enabled = false, updated_at = now()
    where u.id = ${userId}::uuid and u.deletion_scheduled_for <= ${now} and not ${isDeleted} and not ${ownsShared}
    returning u.id
  ), keys as (
    delete from ${api_keys} k using u where k.user_id = u.id returning k.key_hash
  ), ended as (
    update ${sessions} s set revoked_at = coalesce(s.revoked_at, ${now}), user_agent = null
    from u where s.user_id = u.id returning s.id
  ), credentials as (
    delete from ${refresh_tokens} t using ${sessions} s, u where s.id = t.session_id and s.user_id = u.id
  ), tokens as (
    delete from ${email_tokens} t using u where t.user_id = u.id
  ), accounts as (
    delete from ${identities} i using u where i.user_id = u.id
  ), memberships as (
    delete from ${team_members} m using u where m.user_id = u.id
  ), invitations as (
    delete from ${team_invitations} i using u where ${invitedOrOwned}
  ), invited as (
    update ${team_invitations} i set invited_by = null from u where i.invited_by = u.id and not ${invitedOrOwned}
  ), workspaces as (
    update ${teams} t set name = 'Deleted workspace' from u where t.owner_id = u.id
  ), used as (
    delete from ${allowances} w using u where (w.kind = 'user' and w.owner = u.id::text)
      or (w.kind = 'team' and w.owner in (select t.id::text from ${teams} t where t.owner_id = ${userId}::uuid))
  ), replays as (
    delete from ${idempotency_keys} i using u where i.caller = u.id::text
  ), analytics as (
    update ${analytics_events} e set user_id = null from u where e.user_id = u.id
  ), receivers as (
    delete from ${otlp_tokens} o using ${agents} a, u where o.agent_id = a.id and ${belongsTo(userId)}
  ), proposed as (
    delete from ${task_submissions} p using u where p.submitter_id = u.id
  ), reviewed as (
    update ${task_submissions} p set reviewer_id = null from u where p.reviewer_id = u.id and p.submitter_id <> u.id
  ), weightings as (
    delete from ${scorecards} a using u where ${belongsTo(userId)}
  ), schedules as (
    delete from ${screening_schedules} s using ${agents} a, u where s.agent_id = a.id and ${belongsTo(userId)}
  ), subscriptions as (
    delete from ${webhooks} a using u where ${belongsTo(userId)}
  ), told as (
    delete from ${webhook_events} e using u where e.id in (select d.event_id from ${webhook_deliveries} d
      join ${webhooks} a on a.id = d.webhook_id where ${belongsTo(userId)})
  ), surveyed as (
    delete from ${survey_responses} r using u where r.user_id = u.id
  ), interest as (
    delete from ${waitlist_entries} w using u, ${users} o where o.id = u.id and w.email = o.email
  ), customers as (
    delete from ${billing_customers} b using u where b.user_id = u.id returning b.customer_id
  ), cancelled as (
    ${owe("cancel-billing", newId(ctx.now()), sql`jsonb_build_object('customer_id', customer_id)`, sql`from customers`)}
  ), pages as (
    select c.checkout_session_id from ${certifications} c join ${agents} a on a.id = c.agent_id, u
    where c.status = 'awaiting_payment' and ${belongsTo(userId)}
    union all
    select p.checkout_session_id from ${purchases} p join u on u.id = p.buyer_id where p.status = 'AWAITING_PAYMENT'
  ), closed as (
    ${oweAnew(
      "cancel-billing",
      sql`select uuidv7() as id, 0 as generation, null as flow_key, null::timestamptz as not_before,
        jsonb_build_object('checkout_session_id', checkout_session_id) as body
      from pages where checkout_session_id is not null`,
    )}
  ), offers as (
    delete from ${listings} l using u where l.seller_id = u.id
  ), selling as (
    delete from ${seller_accounts} s using u where s.user_id = u.id
  ), trades as (
    update ${purchases} p set buyer_id = nullif(p.buyer_id, u.id), seller_id = nullif(p.seller_id, u.id)
    from u where u.id in (p.buyer_id, p.seller_id)
  ), earned as (
    update ${revenue} r set seller_id = null from u where r.seller_id = u.id
  ), unnamed as (
    update ${agents} a set name = 'Deleted agent', description = '', endpoint = null, provider_url = null,
      manifest_url = null, customer_llm_provider = null, daemon_last_seen_at = null, declared_configuration = null,
      allow_trial = false, is_active = false, registry_status = 'unregistered', updated_at = now(),
      verified_state = case a.verified_state when 'certified' then 'verified' else a.verified_state end
    from u where ${belongsTo(userId)}
  ), certificates as (
    update ${certifications} c set status = case c.status when 'certified' then 'expired' else c.status end, user_id = null,
      revoked_at = coalesce(c.revoked_at, ${now}), jws = null, kid = null, updated_at = ${now}
    from u, ${agents} a where c.agent_id = a.id and c.issued_at is not null and ${belongsTo(userId)}
  ), uncertified as (
    delete from ${certifications} c using u, ${agents} a
    where c.agent_id = a.id and c.issued_at is null and ${belongsTo(userId)}
  ), bought as (
    update ${certifications} c set user_id = null from u, ${agents} a
    where c.user_id = u.id and c.agent_id = a.id and not ${belongsTo(userId)}
  ), checks as (
    delete from ${readiness_checks} c using u, ${agents} a where c.agent_id = a.id and ${belongsTo(userId)}
  )`;
  const result = sql`select jsonb_build_object(
    'closed', exists (select from u) or exists (select from ${users} u where u.id = ${userId}::uuid and ${isDeleted}),
    'keys', coalesce((select jsonb_agg(key_hash) from keys), '[]'),
    'sessions', coalesce((select jsonb_agg(id) from ended), '[]'), 'messages', ${owed("cancelled", "closed")}) as result`;
  const lock = sql`select from ${users} where id = ${userId}::uuid for update`;
  const { closed, keys, sessions: ended, messages } = await writeJson<Outcome>(ctx, ctes, result, lock);
  ctx.defer(() => flush(ctx, messages));
  await Promise.all([denySessions(ctx, ended), ...keys.map((hash) => forgetKey(ctx, hash))]);
  return closed;
}
