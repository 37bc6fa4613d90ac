import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../../db/change.ts";
import type { Closing } from "../../db/closing.ts";
import { deletedEmail, isDeleted } from "../../db/deleted.ts";
import { users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { forgetKey } from "../api-keys/api-key.ts";
import { denySessions, endedJson } from "../sessions/deny.ts";
import { ownsShared } from "./schedule.ts";

const Closed = z.object({
  closed: z.boolean(),
  /** Hashes of the API keys that died with the account. */
  keys: z.array(z.string()),
  /** Ids of the sessions that did, of those that may have access tokens. */
  sessions: z.array(z.uuid()),
});

/**
 * Turns an account whose grace has elapsed into a nameless row, in one transaction: nobody can sign in any more, and every
 * domain ends what must not outlive the account. From here on nothing can be taken back. Does nothing to an account that
 * was restored, or has come to own a workspace with other members. Returns whether the account is closed, by this call or
 * before.
 */
export async function closeAccount(ctx: Context, userId: string, closings: readonly Closing[]): Promise<boolean> {
  const parts = closings
    .flatMap((closing) => Object.entries(closing.parts ?? {}))
    .map(([name, part]) => sql`${sql.identifier(name)} as (${part})`);
  const [owed, ...more] = closings.flatMap((closing) => closing.owes ?? []);
  const result = await write(ctx, {
    lock: sql`select from ${users} where id = ${userId}::uuid for update`,
    parts: sql`with u as (
      update ${users} u set email = ${deletedEmail}, username = null, password_hash = null, email_verified = false,
        plan = 'free', muted_notices = '{}', charges_enabled = false, payouts_enabled = false, updated_at = now()
      where u.id = ${userId}::uuid and u.deletion_scheduled_for <= ${ctx.now().toISOString()}::timestamptz
        and not ${isDeleted} and not ${ownsShared}
      returning u.id
    ), ${sql.join(parts, sql`, `)}`,
    ...(owed === undefined ? {} : { owes: [owed, ...more] as const }),
    select: sql`select jsonb_build_object(
      'closed', exists (select from u) or exists (select from ${users} u where u.id = ${userId}::uuid and ${isDeleted}),
      'keys', coalesce((select jsonb_agg(key_hash) from keys), '[]'),
      'sessions', ${endedJson(ctx)}) as result`,
    result: Closed,
  });
  if (result === null) return false;
  await Promise.all([denySessions(ctx, result.sessions), ...result.keys.map((hash) => forgetKey(ctx, hash))]);
  return result.closed;
}
