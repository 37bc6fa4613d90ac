import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../../db/change.ts";
import { device_authorizations } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { randomToken, sha256 } from "../../platform/crypto.ts";
import { DEVICE_SECONDS, hashOfNetwork, hashOfUserCode, INTERVAL_SECONDS, newUserCode } from "./codes.ts";
import type { DeviceCodes, DeviceRequest } from "./schemas.ts";

/**
 * Gives a program two codes: one to be typed on the page by whoever lets it in, the other for the program alone, to fetch its
 * API key with. Both are stored hashed and hold for ten minutes.
 */
export async function beginDevice(
  ctx: Context,
  { client_name }: z.output<typeof DeviceRequest>,
  userAgent: string | null,
): Promise<z.output<typeof DeviceCodes>> {
  const device_code = randomToken();
  const now = ctx.now().getTime();
  const store = async (user_code: string) =>
    await write(ctx, {
      parts: sql`with begun as (
        insert into ${device_authorizations} (device_hash, user_code_hash, client_name, user_agent, network,
          interval_seconds, created_at, expires_at)
        values (${sha256(device_code)}, ${hashOfUserCode(ctx, user_code)}, ${client_name}, ${userAgent},
          ${hashOfNetwork(ctx)}, ${INTERVAL_SECONDS}, ${new Date(now).toISOString()}::timestamptz,
          ${new Date(now + DEVICE_SECONDS * 1000).toISOString()}::timestamptz)
        on conflict (user_code_hash) do nothing returning ${user_code}::text as user_code
      )`,
      select: sql`select to_jsonb(user_code) as result from begun`,
      result: z.string(),
    });
  let user_code = await store(newUserCode());
  // Another program has this code just now, which hardly ever happens.
  while (user_code === null) user_code = await store(newUserCode());
  const verification_uri = `${ctx.env.BASE_URL}/device`;
  return {
    device_code,
    user_code,
    verification_uri,
    verification_uri_complete: `${verification_uri}?user_code=${user_code}`,
    expires_in: DEVICE_SECONDS,
    interval: INTERVAL_SECONDS,
  };
}
