import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { utcText } from "../db/instant.ts";
import { analytics_events, users } from "../db/schema/index.ts";
import { owe } from "../db/owed.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";

const NAMES = [
  "signup_completed",
  "user_logged_in",
  "password_reset_requested",
  "password_reset_completed",
  "email_verified",
  "playbook_hired",
] as const;

/** The name of an event of product analytics. */
export type EventName = (typeof NAMES)[number];

/** One event of product analytics, as the queue carries it; without any content of users. */
export const AnalyticsEvent = z.strictObject({
  id: z.uuid(),
  name: z.enum(NAMES),
  user_id: z.uuid(),
  properties: z.record(z.string(), z.json()),
  occurred_at: z.iso.datetime(),
});

/** SQL: the JSON of the row `e` of what is kept of an account's events. */
export const eventJson: SQL = sql`json_build_object('id', e.id, 'name', e.name, 'user_id', e.user_id,
  'properties', e.properties, 'occurred_at', ${utcText(sql`e.occurred_at`)})`;

/**
 * SQL: a part of a statement that owes an event about the account `u` of `source` (a FROM clause). `name` may be SQL
 * where only the statement can tell.
 */
export function note(
  ctx: Context,
  name: EventName | SQL,
  properties: z.output<typeof AnalyticsEvent>["properties"] = {},
  source: SQL = sql`from u`,
): SQL {
  const id = newId(ctx.now());
  const event = JSON.stringify({ id, properties, occurred_at: ctx.now().toISOString() });
  const body = sql`${event}::jsonb || jsonb_build_object('name', ${name}::text, 'user_id', u.id)`;
  return owe("analytics", id, body, source);
}

const SINK_TIMEOUT_MS = 10_000;

/**
 * Keeps an event, once however often it comes; without its account where that is gone by now. Where an analytics sink is
 * set, it gets the event as JSON too, with its id as Idempotency-Key; throws when the sink does not take it.
 */
export async function keepEvent(ctx: Context, event: z.output<typeof AnalyticsEvent>): Promise<void> {
  const { id, name, user_id, properties, occurred_at } = event;
  await ctx.db.execute(sql`
    insert into ${analytics_events} (id, name, user_id, properties, occurred_at)
    values (${id}::uuid, ${name}, (select id from ${users} where id = ${user_id}::uuid),
      ${JSON.stringify(properties)}::jsonb, ${occurred_at}::timestamptz)
    on conflict (id) do nothing`);
  const sink = ctx.env.ANALYTICS_SINK_URL;
  if (sink === undefined) return;
  const response = await ctx.fetch(sink, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": id },
    body: JSON.stringify(event),
    redirect: "manual",
    signal: AbortSignal.timeout(SINK_TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the analytics sink answered ${response.status}`);
}
