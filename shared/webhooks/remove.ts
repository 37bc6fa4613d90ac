import { sql } from "drizzle-orm";
import * as z from "zod";
import { change } from "../db/change.ts";
import { webhooks } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { EDITING, noWebhook, notAllowed, visibleWebhook } from "./view.ts";

/**
 * Deletes a subscription; nothing is sent to it any more, and nobody sees its log, which goes in pieces (`forgetRemoved`).
 * Throws 404, 403.
 */
export async function removeWebhook(ctx: Context, principal: UserPrincipal, webhookId: string): Promise<void> {
  await change(ctx, {
    parts: sql`with target as (
      select t.id, ${EDITING.sql} as outcome from (${visibleWebhook(principal.userId, webhookId)}) t
    ), deleted as (
      delete from ${webhooks} w using target t where w.id = t.id and t.outcome = 'done'
    )`,
    result: sql`select jsonb_build_object('outcome', outcome) as result from target`,
    verdict: EDITING,
    done: z.object({}),
    refusals: { not_found: noWebhook, forbidden: notAllowed },
  });
}
