import { createHmac } from "node:crypto";
import { type SQL, sql } from "drizzle-orm";
import { sign_in_marks } from "../../db/schema/index.ts";
import { oweNotice } from "../../mail/owe-notice.ts";
import type { Context } from "../../platform/context.ts";
import { hashSecret } from "../../platform/hash-secret.ts";

/** Versions: a browser stays the same one when it is brought up to date. */
const VERSION = /\d+(?:[._]\d+)*/g;

/**
 * SQL: the parts `marked` and `noticed` of a statement that signs in the account of the part `source`. They remember the network and
 * the browser that it comes with, as keyed hashes that hold for this account alone, and owe it a mail where both are new to
 * it, unless nothing of it was known before. `noticed` are messages. Of sign-ins side by side one finds them new.
 */
export function rememberSignIn(ctx: Context, userAgent: string | null, source: SQL = sql`u`): SQL {
  const hash = hasher(ctx);
  const seen = {
    browser: hash(`browser ${(userAgent ?? "").replaceAll(VERSION, "")}`),
    network: hash(`network ${ctx.network?.() ?? "unknown"}`),
  };
  // What was hashed under a key that is no longer there tells nothing: the account is then seen for the first time.
  const key = hash("key").slice(0, 8);
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
  return sql`marked as (
      insert into ${sign_in_marks} (user_id, kind, mark, last_seen_at)
      select u.id, m.kind, ${key}::text || encode(sha256(convert_to(u.id || m.value, 'UTF8')), 'hex'), ${now}
      from ${source} u cross join (values ('browser', ${seen.browser}::text), ('network', ${seen.network}::text)) m (kind, value)
      on conflict (user_id, kind, mark) do update set last_seen_at = excluded.last_seen_at
      returning user_id, old.mark is null as is_new
    ), noticed as (${oweNotice(
      "sign_in",
      sql`select m.user_id, 'new_sign_in' as notice, '' as title, ${userAgent ?? "an unknown program"}::text as reason,
        null::uuid as page_id
      from marked m where exists (select from ${sign_in_marks} k
        where k.user_id = m.user_id and starts_with(k.mark, ${key}))
      group by m.user_id having bool_and(m.is_new)`,
    )})`;
}

/**
 * Hashes under a secret of its own (`hashSecret`), which no rotation of keys changes: what could be guessed from a plain
 * hash, such as a network or a short code, can't be from this.
 */
export function hasher({ env }: Pick<Context, "env">): (text: string) => string {
  const secret = hashSecret(env, "sign-ins");
  return (text) => createHmac("sha256", secret).update(text).digest("hex");
}
