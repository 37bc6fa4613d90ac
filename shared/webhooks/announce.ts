import { Buffer } from "node:buffer";
import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { agents, webhook_deliveries, webhook_events, webhooks } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { Permanent } from "../queue/consumer.ts";
import { eventBody, MAX_BODY_BYTES, type WebhookEvent } from "./event.ts";
import { isHeldBy, listensTo } from "./match.ts";
import { wake } from "./messages.ts";

/**
 * Makes a first attempt for each subscription to an event, in one statement, and only once however often it is called.
 * Nothing is kept of an event that nobody subscribes to. Throws `Permanent` for one that is longer than a body may be.
 */
export async function announce(ctx: Context, event: z.output<typeof WebhookEvent>): Promise<void> {
  const body = eventBody(event);
  if (Buffer.byteLength(body) > MAX_BODY_BYTES) throw new Permanent(`the event ${event.id} is too long`);
  await write(ctx, {
    parts: sql`with subscribed as (
      ${listeners(event)} and ${event.type} = any(w.event_types)
    ), event as (
      insert into ${webhook_events} (id, type, agent_id, body, created_at)
      select distinct ${event.id}::uuid, ${event.type}, agent_id, ${body}, ${event.created_at}::timestamptz from subscribed
      on conflict (id) do nothing returning id
    ), attempts as (
      insert into ${webhook_deliveries} (webhook_id, event_id, attempt, next_attempt_at)
      select s.id, e.id, 1, ${ctx.now().toISOString()}::timestamptz from subscribed s cross join event e
      returning webhook_id, next_attempt_at as due
    ), ${wake("messages", sql`select webhook_id, due from attempts`)}`,
    hands: ["messages"],
    select: sql`select to_jsonb(count(*)) as result from attempts`,
    result: z.int(),
  });
}

/** SQL: the subscriptions `w` that may hear of the event, with the agent that it is about; ends within its condition. */
function listeners({ agent_id, holder }: z.output<typeof WebhookEvent>): SQL {
  if (holder !== undefined)
    return sql`select w.id, null::uuid as agent_id from ${webhooks} w
      where ${isHeldBy(sql`${holder.kind}::text`, sql`${holder.id}`)}`;
  return sql`select w.id, a.id as agent_id from ${agents} a join ${webhooks} w on ${listensTo}
    where a.id = ${agent_id ?? null}::uuid`;
}
