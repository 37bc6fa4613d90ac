import { sql } from "drizzle-orm";
import { webhook_deliveries, webhook_events } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { SessionPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { notFound } from "../platform/problem.ts";
import { LEASE_S } from "./deliver.ts";
import { eventBody, PING } from "./event.ts";
import { record } from "./record.ts";
import { type Attempt, type Outcome, send, UNSENT } from "./send.ts";
import { assertAllowed, type DeliveryRow, visibleWebhook, webhookInactive } from "./view.ts";

interface Opened {
  allowed: boolean;
  is_active: boolean;
  url: string;
  secret: string | null;
  delivery_id: string | null;
}

/**
 * Sends a subscription an event `ping` now and returns what came of it, as the log keeps it. It is sent once, and its
 * failure turns nothing off. Throws 404, 403, `webhook_inactive`.
 */
export async function pingWebhook(ctx: Context, principal: SessionPrincipal, webhookId: string): Promise<DeliveryRow> {
  const now = ctx.now();
  const [id, lease, created_at] = [newId(now), newId(now), now.toISOString()];
  const body = eventBody({ id, type: PING, created_at, data: { webhook_id: webhookId } });
  const opened = await readJson<Opened>(
    ctx,
    sql`with target as (${visibleWebhook(principal.userId, webhookId)}), event as (
      insert into ${webhook_events} (id, type, agent_id, body, created_at)
      select ${id}::uuid, ${PING}, agent_id, ${body}, ${created_at}::timestamptz from target where allowed and is_active
      returning id
    ), d as (
      insert into ${webhook_deliveries} (webhook_id, event_id, attempt, next_attempt_at, lease_token, lease_expires_at)
      select ${webhookId}::uuid, id, 1, ${created_at}::timestamptz, ${lease}::uuid,
        now() + ${LEASE_S}::integer * interval '1 second'
      from event returning id
    )
    select jsonb_build_object('allowed', t.allowed, 'is_active', t.is_active, 'url', t.url, 'secret', t.secret,
      'delivery_id', (select id from d)) as result from target t`,
  );
  assertAllowed(opened?.allowed ?? null);
  const { url, secret, delivery_id: deliveryId } = opened as Opened;
  if (deliveryId === null) throw webhookInactive();
  const attempt: Attempt = { id: deliveryId, lease, url, secret, type: PING, body };
  const unsent: Outcome = { sentAt: now, status: null, durationMs: 0, excerpt: UNSENT };
  const delivery = await record(ctx, attempt, (await send(ctx, attempt)) ?? unsent);
  // Its webhook was deleted while the receiver was waited for.
  if (delivery === null) throw notFound("webhook");
  return delivery;
}
