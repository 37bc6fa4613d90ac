import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { assertCallable } from "../agents/endpoint.ts";
import { change } from "../db/change.ts";
import { webhooks } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import type { WebhookUpdate } from "./schemas.ts";
import { WebhookRead } from "./shown.ts";
import {
  EDITING,
  lockWebhook,
  noWebhook,
  notAllowed,
  sealSecret,
  typesArray,
  visibleWebhook,
  webhookJson,
} from "./view.ts";

/**
 * Changes the fields that are given, for every attempt from now on. A new URL, or turning it on, forgets the failures
 * so far. Throws 404, 403, `endpoint_not_allowed`.
 */
export async function updateWebhook(
  ctx: Context,
  principal: UserPrincipal,
  webhookId: string,
  input: z.output<typeof WebhookUpdate>,
): Promise<z.output<typeof WebhookRead>> {
  const changes = input.url === undefined ? input : { ...input, url: await assertCallable(ctx, input.url, "/url") };
  const { webhook } = await change(ctx, {
    lock: lockWebhook(webhookId),
    parts: sql`with target as (
      select t.id, ${EDITING.sql} as outcome from (${visibleWebhook(principal.userId, webhookId)}) t
    ), w as (
      update ${webhooks} w set ${sql.join(assignments(ctx, changes), sql`, `)}, updated_at = now()
      from target t where w.id = t.id and t.outcome = 'done' returning w.*
    )`,
    result: sql`select jsonb_build_object('outcome', t.outcome, 'webhook', (select ${webhookJson} from w)) as result
      from target t`,
    verdict: EDITING,
    done: z.object({ webhook: WebhookRead }),
    refusals: { not_found: noWebhook, forbidden: notAllowed },
  });
  return webhook;
}

function assignments(ctx: Context, input: z.output<typeof WebhookUpdate>): SQL[] {
  const { url, event_types: types, secret, description, is_active: active } = input;
  const set: SQL[] = [sql`is_active = ${active === undefined ? sql`w.is_active` : active}`];
  if (url !== undefined) set.push(sql`url = ${url}`);
  if (types !== undefined) set.push(sql`event_types = ${typesArray(types)}`);
  if (secret !== undefined) set.push(sql`secret = ${sealSecret(ctx, secret)}`);
  if (description !== undefined) set.push(sql`description = ${description}`);
  if (active === true) set.push(sql`disabled_reason = null`);
  if (active === true || url !== undefined) set.push(sql`failing_since = null`, sql`failures = 0`);
  return set;
}
