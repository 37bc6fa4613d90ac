import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../../db/change.ts";
import { api_keys } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { forgetKey } from "./api-key.ts";
import type { MayManage } from "./holder.ts";

/** Revokes a key for good; doing it again changes nothing. Throws 404 for a key that the caller may not manage. */
export async function revokeKey(ctx: Context, mayManage: MayManage, keyId: string): Promise<void> {
  const hash = await write(ctx, {
    parts: sql`with revoked as (
      update ${api_keys} t set revoked_at = coalesce(t.revoked_at, ${ctx.now().toISOString()}::timestamptz)
      where t.id = ${keyId}::uuid and ${mayManage({ user_id: sql`t.user_id`, team_id: sql`t.team_id` })}
      returning key_hash
    )`,
    select: sql`select to_jsonb(key_hash) as result from revoked`,
    result: z.string(),
  });
  if (hash === null) throw notFound("API key");
  await forgetKey(ctx, hash);
}
