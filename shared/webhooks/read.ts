import { sql } from "drizzle-orm";
import { readJson } from "../db/statement.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { visibleWebhook, webhookJson, type WebhookRow } from "./view.ts";

/** One subscription as the caller may see it; throws 404. */
export async function readWebhook(ctx: Context, principal: SessionPrincipal, webhookId: string): Promise<WebhookRow> {
  const row = await readJson<WebhookRow>(
    ctx,
    sql`select ${webhookJson} as result from (${visibleWebhook(principal.userId, webhookId)}) w`,
  );
  if (row === null) throw notFound("webhook");
  return row;
}
