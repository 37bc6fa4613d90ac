import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { certifications } from "../db/schema/index.ts";
import { keyId } from "../evidence/did.ts";
import { signStatement } from "../evidence/sign.ts";
import { buildStatusList, STATUS_LIST_SIZE } from "../evidence/status-list.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";

const HOUR_MS = 60 * 60 * 1000;

/**
 * The signed list of revoked credentials with this number, counted from 0. Its text stays the same within an hour unless
 * something is revoked. Throws 404 for a list in which no certification has its place.
 */
export async function readStatusList(ctx: Context, list: number): Promise<string> {
  const first = sql`${list * STATUS_LIST_SIZE}::bigint`;
  const revoked = await read(
    ctx,
    z.array(z.int()),
    sql`select coalesce((
        select jsonb_agg(c.status_index - ${first}) from ${certifications} c
        where c.revoked_at is not null and c.status_index >= ${first} and c.status_index < ${first} + ${STATUS_LIST_SIZE}::bigint
      ), '[]') as result
      where exists (select from ${certifications} c where c.status_index >= ${first})`,
  );
  if (revoked === null) throw notFound("status list");
  const { BASE_URL } = ctx.env;
  const { active } = await ctx.keys();
  const hour = new Date(Math.floor(ctx.now().getTime() / HOUR_MS) * HOUR_MS);
  return signStatement(buildStatusList(BASE_URL, list, revoked, hour), active, keyId(BASE_URL, active));
}
