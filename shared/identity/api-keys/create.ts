import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, type Refusal, telling, verdict } from "../../db/change.ts";
import { api_keys } from "../../db/schema/index.ts";
import { unlessKept } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";
import { endedMeanwhile, quotaExceeded } from "../../platform/problem.ts";
import { stillHolds } from "../passwords/disown.ts";
import type { SessionPrincipal } from "../principal.ts";
import { newApiKey } from "./api-key.ts";
import { grantOf } from "./scopes.ts";
import { type KeyHolder, keysOfAccount } from "./holder.ts";
import { type ApiKeyCreate, ApiKeyRead } from "./schemas.ts";
import { assertFuture, type IssuedKey, keyJson, keyNameTaken, keyPrefix } from "./view.ts";

/** How many keys an account, and each workspace, can have at a time; revoked ones are not counted, expired ones are. */
export const MAX_KEYS = 100;

/**
 * Makes an API key of the caller's account, or of another holder. The key itself is in the first answer alone: it is stored hashed, and a replay has
 * null. Throws `duplicate_name`, `quota_exceeded` at MAX_KEYS, the holder's own refusals, and a 422 for an expiry that has passed.
 */
export async function createKey(
  ctx: Context,
  principal: SessionPrincipal,
  input: z.output<typeof ApiKeyCreate>,
  holder: KeyHolder = keysOfAccount(principal.userId),
): Promise<IssuedKey> {
  await unlessKept(ctx, () => assertFuture(ctx, input.expires_at));
  const secret = newApiKey();
  const { scope, scopes } = grantOf(input);
  const creation = verdict({
    ended: sql`not ${stillHolds(principal)}`,
    forbidden: sql`not h.allowed`,
    duplicate: sql`exists (select from ${api_keys} k where ${holder.has} and k.revoked_at is null
      and lower(k.name) = lower(${input.name}))`,
    full: sql`c.used >= ${MAX_KEYS}`,
  });
  const { key } = await change(ctx, {
    // Creations of one holder take turns, so that neither the limit is exceeded nor a name taken twice.
    lock: holder.lock,
    parts: sql`with checked as (
      select c.used, ${creation.sql} as outcome
      from (select count(*)::integer as used from ${api_keys} k
        where ${holder.has} and k.revoked_at is null) c, (${holder.right}) h
    ), k as (
      insert into ${api_keys} (user_id, team_id, name, prefix, key_hash, scope, scopes, rate_limit_per_minute, quota_per_day, expires_at)
      select ${holder.owner.user_id}, ${holder.owner.team_id}, ${input.name}, ${keyPrefix(secret)}, ${sha256(secret)}, ${scope}, ${scopes && sql`${sql.param(scopes)}::text[]`},
        ${input.rate_limit_per_minute}, ${input.quota_per_day}, ${input.expires_at ?? null}::timestamptz
      from checked where outcome = 'done' returning *
    )`,
    result: sql`select jsonb_build_object('outcome', c.outcome, 'used', c.used,
      'key', (select ${keyJson} from k)) as result from checked c`,
    verdict: creation,
    done: z.object({ key: ApiKeyRead }),
    refusals: {
      ...holder.refusals,
      ended: endedMeanwhile,
      duplicate: keyNameTaken,
      full: keysFull,
    },
  });
  return { ...key, key: ctx.idempotency?.replayed === true ? null : secret };
}

/** The 402 of an account that has MAX_KEYS, from what the result says is `used`. */
export const keysFull: Refusal = telling(z.object({ used: z.int() }), ({ used }) =>
  quotaExceeded(`An account or a workspace can have ${MAX_KEYS} keys. Revoke one first.`, { limit: MAX_KEYS, used }),
);
