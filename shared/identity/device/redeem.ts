import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../../db/change.ts";
import { api_keys, device_authorizations, sessions, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";
import { Problem } from "../../platform/problem.ts";
import { newApiKey } from "../api-keys/api-key.ts";
import { keysFull, MAX_KEYS } from "../api-keys/create.ts";
import { ApiKeyRead } from "../api-keys/schemas.ts";
import { type IssuedKey, keyJson, keyPrefix } from "../api-keys/view.ts";
import { INTERVAL_SECONDS } from "./codes.ts";

/** No program is made to wait longer than this between two requests, in seconds. */
const LONGEST_INTERVAL = 60;

/**
 * Makes the API key of a program that was let in, of scope write, by the name that the program gave, with a number where the
 * account has a key of that name. Of requests side by side one gets the key. Throws `authorization_pending` until somebody
 * has decided, or `slow_down` to a program that asks too often, which makes its interval longer; then `access_denied`,
 * `expired_token`, `quota_exceeded` while the account has MAX_KEYS, and `invalid_token` for a code that is unknown or used.
 */
export async function redeemDevice(ctx: Context, deviceCode: string): Promise<IssuedKey> {
  const secret = newApiKey();
  const hash = sha256(deviceCode);
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
  const redemption = verdict({
    used: sql`d.redeemed_at is not null`,
    expired: sql`d.expires_at <= ${now}`,
    refused: sql`not d.allowed`,
    hasty: sql`d.allowed is null and d.polled_at + d.interval_seconds * interval '1 second' > ${now}`,
    pending: sql`d.allowed is null`,
    ended: sql`not exists (select from ${sessions} s where s.id = d.session_id and s.revoked_at is null)`,
    full: sql`c.used >= ${MAX_KEYS}`,
  });
  const { key } = await change(ctx, {
    // First the code, then the account: of two requests the second finds it used, and keys of one account are made in turn.
    lock: sql`with d as (select user_id from ${device_authorizations} where device_hash = ${hash} for update)
      select from ${users} u join d on d.user_id = u.id for no key update of u`,
    parts: sql`with target as (
      select d.device_hash, d.user_id, d.client_name, c.used, ${redemption.sql} as outcome
      from ${device_authorizations} d, lateral (select count(*)::integer as used from ${api_keys} k
        where k.user_id = d.user_id and k.revoked_at is null) c
      where d.device_hash = ${hash}
    ), k as (
      insert into ${api_keys} (user_id, name, prefix, key_hash, scope)
      select t.user_id, (
        select n.name from generate_series(1, ${MAX_KEYS + 1}::integer) i,
          lateral (select t.client_name || case when i = 1 then '' else ' (' || i || ')' end as name) n
        where not exists (select from ${api_keys} k where k.user_id = t.user_id and k.revoked_at is null
          and lower(k.name) = lower(n.name)) order by i limit 1
      ), ${keyPrefix(secret)}, ${sha256(secret)}, 'write'
      from target t where t.outcome = 'done' returning *
    ), noted as (
      update ${device_authorizations} d set polled_at = ${now},
        redeemed_at = case when t.outcome = 'done' then ${now} end,
        interval_seconds = case when t.outcome = 'hasty'
          then least(d.interval_seconds + ${INTERVAL_SECONDS}::integer, ${LONGEST_INTERVAL}::integer)
          else d.interval_seconds end
      from target t where d.device_hash = t.device_hash and t.outcome in ('done', 'hasty', 'pending')
    )`,
    result: sql`select jsonb_build_object('outcome', t.outcome, 'used', t.used,
      'key', (select ${keyJson} from k)) as result from target t`,
    verdict: redemption,
    done: z.object({ key: ApiKeyRead }),
    refusals: {
      not_found: unknown,
      used: unknown,
      expired: () => new Problem("expired_token", "Nobody decided within ten minutes. Ask for new codes."),
      refused: () => new Problem("access_denied", "Whoever typed the code refused. No key was made."),
      hasty: () => new Problem("slow_down", `Wait ${INTERVAL_SECONDS} seconds more between two requests from now on.`),
      pending: () => new Problem("authorization_pending", "Nobody has decided on the page yet. Ask again in a while."),
      ended: () =>
        new Problem("access_denied", "Whoever allowed it has signed out since, so no key was made. Ask for new codes."),
      full: keysFull,
    },
  });
  return { ...key, key: secret };
}

function unknown(): Problem {
  return new Problem("invalid_token", "This code is unknown or was used: a key is handed out once. Ask for new codes.");
}
