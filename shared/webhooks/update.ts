import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { assertCallable } from "../agents/endpoint.ts";
import { webhooks } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import type { WebhookUpdate } from "./schemas.ts";
import { assertAllowed, sealSecret, typesArray, visibleWebhook, webhookJson, type WebhookRow } from "./view.ts";

interface Outcome {
  allowed: boolean;
  webhook: WebhookRow | null;
}

/**
 * Changes the fields that are given, for every attempt from now on. A new URL, or turning it on, forgets the failures
 * so far. Throws 404, 403, `endpoint_not_allowed`.
 */
export async function updateWebhook(
  ctx: Context,
  principal: SessionPrincipal,
  webhookId: string,
  input: z.output<typeof WebhookUpdate>,
): Promise<WebhookRow> {
  const changes = input.url === undefined ? input : { ...input, url: await assertCallable(ctx, input.url, "/url") };
  const outcome = await readJson<Outcome>(
    ctx,
    sql`with target as (${visibleWebhook(principal.userId, webhookId)}), w as (
      update ${webhooks} w set ${sql.join(assignments(ctx, changes), sql`, `)}, updated_at = now()
      from target t where w.id = t.id and t.allowed returning w.*
    )
    select jsonb_build_object('allowed', t.allowed, 'webhook', (select ${webhookJson} from w)) as result from target t`,
  );
  assertAllowed(outcome?.allowed ?? null);
  return outcome?.webhook as WebhookRow;
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
