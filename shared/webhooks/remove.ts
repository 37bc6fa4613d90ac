import { sql } from "drizzle-orm";
import { webhooks } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { assertAllowed, visibleWebhook } from "./view.ts";

/** Deletes a subscription with its log; nothing is sent to it any more. Throws 404, 403. */
export async function removeWebhook(ctx: Context, principal: SessionPrincipal, webhookId: string): Promise<void> {
  const allowed = await readJson<boolean>(
    ctx,
    sql`with target as (${visibleWebhook(principal.userId, webhookId)}), gone as (
      delete from ${webhooks} w using target t where w.id = t.id and t.allowed
    )
    select to_jsonb(allowed) as result from target`,
  );
  assertAllowed(allowed);
}
