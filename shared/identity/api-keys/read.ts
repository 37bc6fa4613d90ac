import { sql } from "drizzle-orm";
import { read } from "../../db/change.ts";
import { api_keys } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { ApiKeyRead } from "./schemas.ts";
import { keyJson, type ShownKey } from "./view.ts";

/** One key of the account, revoked or not; throws 404 for any other. */
export async function readKey(ctx: Context, userId: string, keyId: string): Promise<ShownKey> {
  const key = await read(
    ctx,
    ApiKeyRead,
    sql`select ${keyJson} as result from ${api_keys} k where k.id = ${keyId}::uuid and k.user_id = ${userId}::uuid`,
  );
  if (key === null) throw notFound("API key");
  return key;
}
