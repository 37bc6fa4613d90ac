import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { databaseFailure } from "../../db/client.ts";
import { api_keys } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { forgetKey } from "./api-key.ts";
import type { ApiKeyUpdate } from "./schemas.ts";
import { assertFuture, keyInactive, keyJson, keyNameTaken, type KeyRow } from "./view.ts";

interface Outcome {
  hash: string;
  /** Null for a revoked key. */
  key: KeyRow | null;
}

/**
 * Changes the fields of a key that are given, its limits from the next request on. Throws 404 for another's key,
 * `key_inactive` for a revoked one, `duplicate_name`, and a 422 for an expiry that has passed.
 */
export async function updateKey(
  ctx: Context,
  userId: string,
  keyId: string,
  input: z.output<typeof ApiKeyUpdate>,
): Promise<KeyRow> {
  assertFuture(ctx, input.expires_at);
  const outcome = await readJson<Outcome>(
    ctx,
    sql`with target as (
      select id, key_hash, revoked_at from ${api_keys}
      where id = ${keyId}::uuid and user_id = ${userId}::uuid for update
    ), k as (
      update ${api_keys} k set ${sql.join(assignments(input), sql`, `)}
      from target t where k.id = t.id and t.revoked_at is null returning k.*
    )
    select jsonb_build_object('hash', t.key_hash, 'key', (select ${keyJson} from k)) as result from target t`,
  ).catch((error: unknown) => {
    throw databaseFailure(error)?.constraint === "api_keys_name_key" ? keyNameTaken() : error;
  });
  if (outcome === null) throw notFound("API key");
  if (outcome.key === null) throw keyInactive("This key is revoked and can't be changed; make a new one.");
  await forgetKey(ctx, outcome.hash);
  return outcome.key;
}

function assignments(input: z.output<typeof ApiKeyUpdate>): SQL[] {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  const set = given.map(([column, value]) => sql`${sql.identifier(column)} = ${value}`);
  return set.length === 0 ? [sql`name = k.name`] : set;
}
