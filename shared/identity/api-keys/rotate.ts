import { sql } from "drizzle-orm";
import { api_keys } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { sha256 } from "../../platform/crypto.ts";
import { notFound } from "../../platform/problem.ts";
import { forgetKey, newApiKey } from "./api-key.ts";
import { type IssuedKey, keyInactive, keyJson, keyPrefix, type KeyRow } from "./view.ts";

interface Outcome {
  /** Of the key that was replaced. */
  hash: string;
  /** Null for a key that is over. */
  key: KeyRow | null;
}

/**
 * Replaces the secret of a key; name, scope, limits and expiry stay, the quotas start anew. Of any number of rotations
 * at once the last one's key lives. Throws 404 for another's key, `key_inactive` for a revoked or expired one.
 */
export async function rotateKey(ctx: Context, userId: string, keyId: string): Promise<IssuedKey> {
  const secret = newApiKey();
  const outcome = await readJson<Outcome>(
    ctx,
    sql`with target as (
      select id, key_hash, revoked_at, expires_at from ${api_keys}
      where id = ${keyId}::uuid and user_id = ${userId}::uuid for update
    ), k as (
      update ${api_keys} k set key_hash = ${sha256(secret)}, prefix = ${keyPrefix(secret)}
      from target t where k.id = t.id and t.revoked_at is null
        and (t.expires_at is null or t.expires_at > ${ctx.now().toISOString()}::timestamptz)
      returning k.*
    )
    select jsonb_build_object('hash', t.key_hash, 'key', (select ${keyJson} from k)) as result from target t`,
  );
  if (outcome === null) throw notFound("API key");
  if (outcome.key === null) throw keyInactive("This key is revoked or expired; make a new one.");
  await forgetKey(ctx, outcome.hash);
  return { ...outcome.key, key: secret };
}
