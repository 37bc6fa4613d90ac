import { sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../db/change.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { WebhookRead } from "./shown.ts";
import { visibleWebhook, webhookJson } from "./view.ts";

/** One subscription as the caller may see it; throws 404. */
export async function readWebhook(
  ctx: Context,
  principal: UserPrincipal,
  webhookId: string,
): Promise<z.output<typeof WebhookRead>> {
  const webhook = await read(
    ctx,
    WebhookRead,
    sql`select ${webhookJson} as result from (${visibleWebhook(principal.userId, webhookId)}) w`,
  );
  if (webhook === null) throw notFound("webhook");
  return webhook;
}
