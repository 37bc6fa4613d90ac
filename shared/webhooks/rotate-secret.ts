import { sql } from "drizzle-orm";
import type * as z from "zod";
import { webhooks } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { randomToken } from "../platform/crypto.ts";
import type { WebhookSecretRotate } from "./schemas.ts";
import { assertAllowed, sealSecret, visibleWebhook, webhookJson, type WebhookRow } from "./view.ts";

interface Outcome {
  allowed: boolean | null;
  webhook: WebhookRow | null;
}

/**
 * Gives a subscription the secret of the input, or makes one of 256 bits, which is in the first answer alone. Every
 * attempt from now on is signed with it. Throws 404, 403.
 */
export async function rotateSecret(
  ctx: Context,
  principal: SessionPrincipal,
  webhookId: string,
  input: z.output<typeof WebhookSecretRotate>,
): Promise<WebhookRow & { secret: string | null }> {
  const secret = input.secret ?? `whsec_${randomToken()}`;
  const ctes = sql`with target as (${visibleWebhook(principal.userId, webhookId)}), w as (
    update ${webhooks} w set secret = ${sealSecret(ctx, secret)}, updated_at = now()
    from target t where w.id = t.id and t.allowed returning w.*
  )`;
  const result = sql`select jsonb_build_object('allowed', (select allowed from target),
    'webhook', (select ${webhookJson} from w)) as result`;
  const { allowed, webhook } = await writeJson<Outcome>(ctx, ctes, result);
  assertAllowed(allowed);
  const shown = input.secret === undefined && ctx.idempotency?.replayed !== true;
  return { ...(webhook as WebhookRow), secret: shown ? secret : null };
}
