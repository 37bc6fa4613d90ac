import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../../db/change.ts";
import { databaseFailure } from "../../db/client.ts";
import { api_keys } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { forgetKey } from "./api-key.ts";
import type { MayManage } from "./holder.ts";
import { ApiKeyRead, type ApiKeyUpdate } from "./schemas.ts";
import { assertFuture, keyInactive, keyJson, keyNameTaken, type ShownKey } from "./view.ts";

const UPDATE = verdict({ inactive: sql`t.revoked_at is not null` });

/**
 * Changes the fields of a key that are given; new limits hold from the next request on. Throws 404 for a key that the
 * caller may not manage, `key_inactive` for a revoked one, `duplicate_name`, and a 422 for an expiry that has passed.
 */
export async function updateKey(
  ctx: Context,
  mayManage: MayManage,
  keyId: string,
  input: z.output<typeof ApiKeyUpdate>,
): Promise<ShownKey> {
  assertFuture(ctx, input.expires_at);
  const { hash, key } = await change(ctx, {
    parts: sql`with target as (
      select t.id, t.key_hash, ${UPDATE.sql} as outcome from ${api_keys} t
      where t.id = ${keyId}::uuid and ${mayManage({ user_id: sql`t.user_id`, team_id: sql`t.team_id` })}
      for update
    ), k as (
      update ${api_keys} k set ${sql.join(assignments(input), sql`, `)}
      from target t where k.id = t.id and t.outcome = 'done' returning k.*
    )`,
    result: sql`select jsonb_build_object('outcome', t.outcome, 'hash', t.key_hash,
      'key', (select ${keyJson} from k)) as result from target t`,
    verdict: UPDATE,
    done: z.object({ hash: z.string(), key: ApiKeyRead }),
    refusals: {
      not_found: () => notFound("API key"),
      inactive: () => keyInactive("This key is revoked and can't be changed; make a new one."),
    },
  }).catch((error: unknown) => {
    throw databaseFailure(error)?.constraint?.endsWith("name_key") === true ? keyNameTaken() : error;
  });
  await forgetKey(ctx, hash);
  return key;
}

function assignments(input: z.output<typeof ApiKeyUpdate>): SQL[] {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  const set = given.map(([column, value]) => sql`${sql.identifier(column)} = ${value}`);
  return set.length === 0 ? [sql`name = k.name`] : set;
}
