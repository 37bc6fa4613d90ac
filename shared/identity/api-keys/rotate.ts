import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../../db/change.ts";
import { api_keys } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";
import { notFound } from "../../platform/problem.ts";
import { forgetKey, newApiKey } from "./api-key.ts";
import type { MayManage } from "./holder.ts";
import { ApiKeyRead } from "./schemas.ts";
import { type IssuedKey, keyInactive, keyJson, keyPrefix } from "./view.ts";

/**
 * Replaces the secret of a key; name, scope, limits and expiry stay, and the quotas start again. Of any number of
 * rotations at once the last one's key remains. Throws 404 for a key that the caller may not manage, `key_inactive` for a revoked or
 * expired one.
 */
export async function rotateKey(ctx: Context, mayManage: MayManage, keyId: string): Promise<IssuedKey> {
  const secret = newApiKey();
  const rotation = verdict({
    inactive: sql`t.revoked_at is not null or t.expires_at <= ${ctx.now().toISOString()}::timestamptz`,
  });
  const { old_hash, key } = await change(ctx, {
    parts: sql`with target as (
      select t.id, t.key_hash, ${rotation.sql} as outcome from ${api_keys} t
      where t.id = ${keyId}::uuid and ${mayManage({ user_id: sql`t.user_id`, team_id: sql`t.team_id` })}
      for update
    ), k as (
      update ${api_keys} k set key_hash = ${sha256(secret)}, prefix = ${keyPrefix(secret)}
      from target t where k.id = t.id and t.outcome = 'done' returning k.*
    )`,
    result: sql`select jsonb_build_object('outcome', t.outcome, 'old_hash', t.key_hash,
      'key', (select ${keyJson} from k)) as result from target t`,
    verdict: rotation,
    done: z.object({ old_hash: z.string(), key: ApiKeyRead }),
    refusals: {
      not_found: () => notFound("API key"),
      inactive: () => keyInactive("This key is revoked or has expired. Make a new one."),
    },
  });
  await forgetKey(ctx, old_hash);
  return { ...key, key: ctx.idempotency?.replayed === true ? null : secret };
}
