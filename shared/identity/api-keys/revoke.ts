import { sql } from "drizzle-orm";
import { api_keys } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { forgetKey } from "./api-key.ts";

/** Revokes a key for good; doing it again changes nothing. Throws 404 for another's key. */
export async function revokeKey(ctx: Context, userId: string, keyId: string): Promise<void> {
  const hash = await readJson<string>(
    ctx,
    sql`update ${api_keys} set revoked_at = coalesce(revoked_at, ${ctx.now().toISOString()}::timestamptz)
      where id = ${keyId}::uuid and user_id = ${userId}::uuid returning to_jsonb(key_hash) as result`,
  );
  if (hash === null) throw notFound("API key");
  await forgetKey(ctx, hash);
}
