import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import * as z from "zod";
import { read } from "../db/change.ts";
import { describeError } from "../db/client.ts";
import type { Piece } from "../db/pieces.ts";
import { provider_events } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import type { EventTaker } from "./provider-event.ts";
import { takeEvent } from "./receive.ts";
import { type Payments, withProvider } from "./stripe.ts";

const DAY_S = 86_400;
/** How far back events are looked for at least, and at most: the provider lists them for 30 days. */
const SPAN_S = { least: 3 * DAY_S, most: 30 * DAY_S };
/** How many events one piece looks at, and how many missed ones it processes. */
const PAGE = 100;
const MAX_EVENTS = 5;

/**
 * Where to go on: events `since` this time (Unix seconds) are looked at, the page begins after the event `behind`, and
 * `last` is the last event of the page whose work is done.
 */
const Place = z.object({ since: z.int(), behind: z.string().nullable(), last: z.string().nullable() });
type Place = z.output<typeof Place>;

/**
 * Makes up for the events of the last three days, and of all time since this was `lastDone` without fault, that never came,
 * or whose work never got done: looks at a page of them at the provider and has the takers do what the webhook would have,
 * for 5 at most, the oldest first. An event that fails does not hold up the others. Does nothing without a payment key.
 */
export async function reconcile(
  ctx: Context,
  takers: readonly EventTaker[],
  cursor: string | null,
  lastDone: Date | null,
): Promise<Piece> {
  if (ctx.env.STRIPE_SECRET_KEY === undefined) return { next: null };
  const start = { since: sinceOf(ctx.now(), lastDone), behind: null, last: null };
  const place: Place = cursor === null ? start : Place.parse(JSON.parse(cursor));
  const { data, has_more } = await withProvider(ctx, (stripe) => list(stripe, takers, place));
  const ahead = data.toReversed();
  const missed = await withoutDone(ctx, ahead.slice(ahead.findIndex(({ id }) => id === place.last) + 1));
  const taken = missed.slice(0, MAX_EVENTS);
  const failure = await takeEach(ctx, takers, taken);
  const next: Place | null =
    missed.length > MAX_EVENTS
      ? { ...place, last: taken.at(-1)?.id ?? null }
      : has_more
        ? { ...place, behind: data.at(-1)?.id ?? null, last: null }
        : null;
  return { next: next === null ? null : JSON.stringify(next), failure };
}

/**
 * From when on events are looked for, in Unix seconds. The provider tries for three days to deliver an event: after a longer
 * outage nobody else makes up for those before. What came while they were last looked for may have been overlooked.
 */
function sinceOf(now: Date, lastDone: Date | null): number {
  const at = Math.floor(now.getTime() / 1000);
  const done = Math.floor((lastDone?.getTime() ?? 0) / 1000);
  return Math.max(at - SPAN_S.most, Math.min(at - SPAN_S.least, done - DAY_S));
}

/** A page of our own account's events of the takers' types, newest first. */
function list(stripe: Payments, takers: readonly EventTaker[], { since, behind }: Place) {
  const types = [...new Set(takers.flatMap((taker) => [...taker.types]))];
  const page = behind === null ? {} : { starting_after: behind };
  return stripe.events.list({ types, created: { gte: since }, limit: PAGE, ...page });
}

/** Those events that are not noted as done. */
async function withoutDone(ctx: Context, events: readonly Stripe.Event[]): Promise<Stripe.Event[]> {
  const ids = JSON.stringify(events.map(({ id }) => id));
  const done = await read(
    ctx,
    z.array(z.string()),
    sql`select jsonb_agg(id) as result from ${provider_events}
      where id in (select jsonb_array_elements_text(${ids}::jsonb))`,
  );
  return events.filter(({ id }) => done?.includes(id) !== true);
}

/** Has each event's work done; returns what the last one that failed threw. */
async function takeEach(ctx: Context, takers: readonly EventTaker[], events: readonly Stripe.Event[]) {
  let failure: unknown;
  for (const event of events) {
    const { id: event_id, type: event_type } = event;
    try {
      await takeEvent(ctx, takers, event);
      ctx.log.info("missed event done", { event_id, event_type });
    } catch (error) {
      failure = error;
      ctx.log.error("missed event not done", { event_id, event_type, detail: describeError(error) });
    }
  }
  return failure;
}
