import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../../db/change.ts";
import { passkeys } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import type { SessionPrincipal } from "../principal.ts";
import { PasskeyList } from "./schemas.ts";
import { passkeyJson } from "./view.ts";

/** The caller's passkeys, the newest first. */
export async function listPasskeys(ctx: Context, { userId }: SessionPrincipal): Promise<z.output<typeof PasskeyList>> {
  const list = await read(
    ctx,
    PasskeyList,
    sql`select json_build_object('items', coalesce(json_agg(${passkeyJson} order by p.created_at desc, p.id desc), '[]')) as result
      from ${passkeys} p where p.user_id = ${userId}::uuid`,
  );
  return list ?? { items: [] };
}
