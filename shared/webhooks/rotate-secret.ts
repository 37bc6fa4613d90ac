import { sql } from "drizzle-orm";
import * as z from "zod";
import { change } from "../db/change.ts";
import { webhooks } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { randomToken } from "../platform/crypto.ts";
import type { WebhookSecretRotate } from "./schemas.ts";
import { WebhookRead, type WebhookSecretRead } from "./shown.ts";
import { EDITING, lockWebhook, noWebhook, notAllowed, sealSecret, visibleWebhook, webhookJson } from "./view.ts";

/**
 * Gives a subscription the secret of the input, or makes one of 256 bits, which only the first answer shows. Every
 * attempt from now on is signed with it. Throws 404, 403.
 */
export async function rotateSecret(
  ctx: Context,
  principal: UserPrincipal,
  webhookId: string,
  input: z.output<typeof WebhookSecretRotate>,
): Promise<z.output<typeof WebhookSecretRead>> {
  const secret = input.secret ?? `whsec_${randomToken()}`;
  const { webhook } = await change(ctx, {
    lock: lockWebhook(webhookId),
    parts: sql`with target as (
      select t.id, ${EDITING.sql} as outcome from (${visibleWebhook(principal.userId, webhookId)}) t
    ), w as (
      update ${webhooks} w set secret = ${sealSecret(ctx, secret)}, updated_at = now()
      from target t where w.id = t.id and t.outcome = 'done' returning w.*
    )`,
    result: sql`select jsonb_build_object('outcome', t.outcome, 'webhook', (select ${webhookJson} from w)) as result
      from target t`,
    verdict: EDITING,
    done: z.object({ webhook: WebhookRead }),
    refusals: { not_found: noWebhook, forbidden: notAllowed },
  });
  const shown = input.secret === undefined && ctx.idempotency?.replayed !== true;
  return { ...webhook, secret: shown ? secret : null };
}
