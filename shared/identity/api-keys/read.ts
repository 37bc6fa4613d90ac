import { sql } from "drizzle-orm";
import { read } from "../../db/change.ts";
import { api_keys } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import type { MayManage } from "./holder.ts";
import { ApiKeyRead } from "./schemas.ts";
import { keyJson, type ShownKey } from "./view.ts";

/** One key that the caller may manage, revoked or not; throws 404 for any other. */
export async function readKey(ctx: Context, mayManage: MayManage, keyId: string): Promise<ShownKey> {
  const key = await read(
    ctx,
    ApiKeyRead,
    sql`select ${keyJson} as result from ${api_keys} k where k.id = ${keyId}::uuid and ${mayManage({ user_id: sql`k.user_id`, team_id: sql`k.team_id` })}`,
  );
  if (key === null) throw notFound("API key");
  return key;
}
