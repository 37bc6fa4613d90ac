import { sql } from "drizzle-orm";
import type * as z from "zod";
import { pageJson, shortParts, UNLIMITED } from "../db/listing.ts";
import { pageResult, readPage } from "../db/page-result.ts";
import { webhooks } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { ofOwners, ownerOf } from "../teams/rights.ts";
import { WebhookRead } from "./shown.ts";
import { webhookJson, webhookOwner } from "./view.ts";

const Webhooks = pageResult(WebhookRead);

/** A page of the caller's own subscriptions and those of the caller's workspaces, newest first. */
export async function listWebhooks(
  ctx: Context,
  principal: UserPrincipal,
  paging: { page: number; page_size: number },
): Promise<z.output<typeof Webhooks>> {
  const hits = ofOwners(
    "see",
    principal.userId,
    (owner) => sql`select w.* from ${webhooks} w where ${ownerOf(webhookOwner)} = ${owner}
      order by w.created_at desc, w.id desc ${UNLIMITED}`,
  );
  const items = sql`(select json_agg(${webhookJson} order by w.id desc) from paged w)`;
  const found = await readPage(ctx, Webhooks, paging, (stretch) => {
    const parts = shortParts(hits, "w", sql`w.id desc`, stretch);
    return sql`with ${parts} select ${pageJson(items)} as result`;
  });
  return found ?? { items: [], total: 0 };
}
