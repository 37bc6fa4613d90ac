import { Buffer } from "node:buffer";
import { sql } from "drizzle-orm";
import * as z from "zod";
import { kept, writeKept } from "../db/kept.ts";
import { agents, webhook_deliveries, webhook_events } from "../db/schema/index.ts";
import { takeBack } from "../db/owed.ts";
import { createTogether } from "../db/together.ts";
import type { Context } from "../platform/context.ts";
import { Permanent } from "../queue/consumer.ts";
import { eventBody, MAX_BODY_BYTES, type WebhookEvent } from "./event.ts";
import { isHeldBy, listensTo, subscribers } from "./match.ts";
import { wake } from "./messages.ts";

/** What the statement is given of an event. */
const COLUMNS = sql.raw(
  "id uuid, type text, agent_id uuid, holder_kind text, holder_id text, body text, created_at timestamptz",
);

/**
 * Makes a first attempt, due `at`, for each subscription to each of a list of events, and only once however often an event
 * is in it or was announced before. Nothing is kept of an event that nobody subscribes to, and none is owed any more.
 */
export const ANNOUNCE = kept("announce", { events: "jsonb", at: "timestamptz" }, (value) => ({
  parts: sql`with given as (
      select distinct on (g.id) g.* from jsonb_to_recordset(${value("events")}) as g(${COLUMNS})
    ), subscribed as (
      select w.id, g.id as event_id, a.id as agent_id from given g join ${agents} a on a.id = g.agent_id
        cross join lateral (${subscribers(listensTo, sql`g.type`)}) w
      union all
      select w.id, g.id, null from given g
        cross join lateral (${subscribers(isHeldBy(sql`g.holder_kind`, sql`g.holder_id`), sql`g.type`)}) w
    ), event as (
      insert into ${webhook_events} (id, type, agent_id, body, created_at)
      select g.id, g.type, s.agent_id, g.body, g.created_at
      from given g join (select distinct event_id, agent_id from subscribed) s on s.event_id = g.id
      on conflict (id) do nothing returning id
    ), attempts as (
      insert into ${webhook_deliveries} (webhook_id, event_id, attempt, next_attempt_at)
      select s.id, e.id, 1, ${value("at")} from subscribed s join event e on e.id = s.event_id
      returning webhook_id, next_attempt_at as due
    ), done as (
      ${takeBack(["announce"], sql`select id from given`)}
    ), ${wake("messages", sql`select webhook_id, due from attempts`)}`,
  hands: ["messages"],
  select: sql`select to_jsonb(count(*)) as result from attempts`,
}));

/** What `ANNOUNCE` is given of an event. */
interface Given {
  id: string;
  type: string;
  agent_id: string | undefined;
  holder_kind: string | undefined;
  holder_id: string | undefined;
  body: string;
  created_at: string;
}

/** Events up to here share a statement. */
const SHARED_CHARACTERS = 16 * 1024;
const MOST = 50;

const announcements = createTogether({
  most: MOST,
  isLarge: (event: Given) => event.body.length > SHARED_CHARACTERS,
  async write(ctx, events) {
    await writeKept(ctx, [ANNOUNCE.with({ events: JSON.stringify(events), at: ctx.now().toISOString() })], z.int());
    return events.map(() => undefined);
  },
});

/**
 * Makes a first attempt for each subscription to an event, together with what else is announced at the time, and only once
 * however often it is called. Nothing is kept of an event that nobody subscribes to. Throws `Permanent` for one that is
 * longer than a body may be.
 */
export async function announce(ctx: Context, event: z.output<typeof WebhookEvent>): Promise<void> {
  const body = eventBody(event);
  if (Buffer.byteLength(body) > MAX_BODY_BYTES) throw new Permanent(`the event ${event.id} is too long`);
  const { id, type, agent_id, holder, created_at } = event;
  const given = { id, type, agent_id, holder_kind: holder?.kind, holder_id: holder?.id, body, created_at };
  await announcements.write(ctx, given);
}
