import { sql } from "drizzle-orm";
import * as z from "zod";
import { pageJson, shortParts } from "../../db/listing.ts";
import { pageResult, readPage } from "../../db/page-result.ts";
import { api_keys } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import type { KeyHolder } from "./holder.ts";
import { ApiKeyRead } from "./schemas.ts";
import { keyJson } from "./view.ts";

const KeyList = pageResult(ApiKeyRead);
const Found = KeyList.extend({ allowed: z.boolean() });

/**
 * A page of a holder's keys: those in force or expired first, then revoked ones, each newest first. Throws the holder's
 * refusals.
 */
export async function listKeys(
  ctx: Context,
  holder: KeyHolder,
  paging: { page: number; page_size: number },
): Promise<z.output<typeof KeyList>> {
  const order = sql`k.revoked_at is not null, k.created_at desc, k.id desc`;
  const hits = sql`select k.* from ${api_keys} k, h where ${holder.has} and h.allowed`;
  const items = sql`(select json_agg(${keyJson} order by ${order}) from paged k)`;
  const found = await readPage(
    ctx,
    Found,
    paging,
    (stretch) => sql`with h as (${holder.right}), ${shortParts(hits, "k", order, stretch)}
    select ${pageJson(items, { allowed: sql`h.allowed` })} as result from h`,
  );
  if (found === null) throw holder.refusals.not_found();
  if (!found.allowed) throw holder.refusals.forbidden();
  return found;
}
