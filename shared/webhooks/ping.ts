import { sql } from "drizzle-orm";
import * as z from "zod";
import { change } from "../db/change.ts";
import { webhook_deliveries, webhook_events } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { LEASE_S } from "./claim.ts";
import { eventBody, PING } from "./event.ts";
import { record } from "./record.ts";
import type { DeliveryRead } from "./shown.ts";
import { type Attempt, Claimed, type Outcome, send, UNSENT } from "./send.ts";
import { noWebhook, notAllowed, SENDING, visibleWebhook, webhookInactive } from "./view.ts";

/**
 * Sends a subscription an event `ping` now and returns the outcome as the log keeps it. It is sent once, and its
 * failure turns nothing off. Throws 404, 403, `webhook_inactive`.
 */
export async function pingWebhook(
  ctx: Context,
  principal: UserPrincipal,
  webhookId: string,
): Promise<z.output<typeof DeliveryRead>> {
  const attempt = await open(ctx, principal, webhookId);
  const unsent: Outcome = { sentAt: ctx.now(), status: null, durationMs: 0, excerpt: UNSENT };
  const delivery = await record(ctx, attempt, (await send(ctx, attempt)) ?? unsent);
  // Its webhook was deleted while we waited for the receiver.
  if (delivery === null) throw noWebhook();
  return delivery;
}

/** Makes the event and its only attempt, which the caller holds already. */
async function open(ctx: Context, principal: UserPrincipal, webhookId: string): Promise<Attempt> {
  const now = ctx.now();
  const [id, lease, created_at] = [newId(now), newId(now), now.toISOString()];
  const body = eventBody({ id, type: PING, created_at, data: { webhook_id: webhookId } });
  const { attempt } = await change(ctx, {
    parts: sql`with target as (
      select t.*, ${SENDING.sql} as outcome from (${visibleWebhook(principal.userId, webhookId)}) t
    ), event as (
      insert into ${webhook_events} (id, type, agent_id, body, created_at)
      select ${id}::uuid, ${PING}, agent_id, ${body}, ${created_at}::timestamptz from target where outcome = 'done'
      returning id
    ), d as (
      insert into ${webhook_deliveries} (webhook_id, event_id, attempt, next_attempt_at, lease_token, lease_expires_at)
      select ${webhookId}::uuid, id, 1, ${created_at}::timestamptz, ${lease}::uuid,
        now() + ${LEASE_S}::integer * interval '1 second'
      from event returning id
    )`,
    result: sql`select jsonb_build_object('outcome', t.outcome, 'attempt', (select jsonb_build_object(
      'id', d.id, 'url', t.url, 'secret', t.secret, 'type', ${PING}::text, 'body', ${body}::text) from d)) as result
      from target t`,
    verdict: SENDING,
    done: z.object({ attempt: Claimed }),
    refusals: { not_found: noWebhook, forbidden: notAllowed, inactive: webhookInactive },
  });
  return { ...attempt, lease };
}
