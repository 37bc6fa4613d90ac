import { sql } from "drizzle-orm";
import {
  agents,
  allowances,
  analytics_events,
  api_keys,
  email_tokens,
  idempotency_keys,
  identities,
  refresh_tokens,
  sessions,
  team_members,
  teams,
  users,
} from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { forgetKey } from "./api-key.ts";
import { ownsShared } from "./delete-account.ts";
import { belongsTo, deletedEmail, isDeleted } from "./finalise-view.ts";
import { denySessions } from "./sign-out.ts";

interface Outcome {
  closed: boolean;
  /** Hashes of the keys, and ids of the sessions, that died with it. */
  keys: string[];
  sessions: string[];
}

/**
 * Turns an account whose grace has elapsed into a nameless row, in one transaction: nobody can sign in any more, and
 * its agents are off and unnamed. From here on nothing can be taken back. Does nothing to one that was restored or has
 * come to own a workspace with other members. Returns whether the account is closed, by this call or before.
 */
export async function closeAccount(ctx: Context, userId: string): Promise<boolean> {
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
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
  ), workspaces as (
    update ${teams} t set name = 'Deleted workspace' from u where t.owner_id = u.id
  ), used as (
    delete from ${allowances} w using u where (w.kind = 'user' and w.owner = u.id::text)
      or (w.kind = 'team' and w.owner in (select t.id::text from ${teams} t where t.owner_id = ${userId}::uuid))
  ), replays as (
    delete from ${idempotency_keys} i using u where i.caller = u.id::text
  ), analytics as (
    update ${analytics_events} e set user_id = null from u where e.user_id = u.id
  ), unnamed as (
    update ${agents} a set name = 'Deleted agent', description = '', endpoint = null, provider_url = null,
      manifest_url = null, customer_llm_provider = null, daemon_last_seen_at = null, declared_configuration = null,
      allow_trial = false, is_active = false, registry_status = 'unregistered', updated_at = now()
    from u where ${belongsTo(userId)}
  )`;
  const result = sql`select jsonb_build_object(
    'closed', exists (select from u) or exists (select from ${users} u where u.id = ${userId}::uuid and ${isDeleted}),
    'keys', coalesce((select jsonb_agg(key_hash) from keys), '[]'),
    'sessions', coalesce((select jsonb_agg(id) from ended), '[]')) as result`;
  const lock = sql`select from ${users} where id = ${userId}::uuid for update`;
  const { closed, keys, sessions: ended } = await writeJson<Outcome>(ctx, ctes, result, lock);
  await Promise.all([denySessions(ctx, ended), ...keys.map((hash) => forgetKey(ctx, hash))]);
  return closed;
}
