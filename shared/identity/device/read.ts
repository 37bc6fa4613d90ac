import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../../db/change.ts";
import { device_authorizations } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { asShown, hashOfNetwork, hashOfUserCode, noDevice } from "./codes.ts";
import { DeviceAsking } from "./schemas.ts";

/** What asks with a code that nobody has decided on. Throws 404 for any other code. */
export async function readDevice(ctx: Context, userCode: string): Promise<z.output<typeof DeviceAsking>> {
  const asking = await read(
    ctx,
    DeviceAsking,
    sql`select jsonb_build_object('user_code', ${asShown(userCode)}::text, 'client_name', d.client_name, 'user_agent', d.user_agent,
        'same_network', d.network = ${hashOfNetwork(ctx)}, 'created_at', d.created_at, 'expires_at', d.expires_at) as result
      from ${device_authorizations} d where d.user_code_hash = ${hashOfUserCode(ctx, userCode)} and d.allowed is null
        and d.expires_at > ${ctx.now().toISOString()}::timestamptz`,
  );
  if (asking === null) throw noDevice();
  return asking;
}
