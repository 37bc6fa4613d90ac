import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import { describeError } from "../db/client.ts";
import { provider_events } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import type { EventTaker } from "./provider-event.ts";
import { takeEvent } from "./receive.ts";
import { withProvider } from "./stripe.ts";

const DAYS = 3;
const PAGE = 100;
/** Pages that are looked through, and events that are made up for, in one night. */
const MAX_PAGES = 50;
const MAX_EVENTS = 200;

/**
 * Makes up for the events of the last days that never came, or whose work never got done: lists them at the provider and
 * has the takers do what the webhook would have, oldest first. One that fails holds no other up. Returns how many are
 * done now; 0 without a payment key.
 */
export async function reconcile(ctx: Context, takers: readonly EventTaker[]): Promise<number> {
  if (ctx.env.STRIPE_SECRET_KEY === undefined) return 0;
  const missed = await withProvider(ctx, (stripe) => missedEvents(ctx, stripe, takers));
  let done = 0;
  for (const event of missed.toReversed().slice(0, MAX_EVENTS)) {
    try {
      await takeEvent(ctx, takers, event);
      done += 1;
    } catch (error) {
      ctx.log.error("missed event not done", {
        event_id: event.id,
        event_type: event.type,
        detail: describeError(error),
      });
    }
  }
  ctx.log.info("missed events", { done, missed: missed.length });
  return done;
}

/** The events of the takers' types that are not noted as done, newest first. */
async function missedEvents(ctx: Context, stripe: Stripe, takers: readonly EventTaker[]): Promise<Stripe.Event[]> {
  const types = [...new Set(takers.flatMap((taker) => [...taker.types]))];
  const since = Math.floor(ctx.now().getTime() / 1000) - DAYS * 86_400;
  const missed: Stripe.Event[] = [];
  let last: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { data, has_more } = await stripe.events.list({
      types,
      created: { gte: since },
      limit: PAGE,
      ...(last === undefined ? {} : { starting_after: last }),
    });
    const ids = JSON.stringify(data.map(({ id }) => id));
    const done = await readJson<string[]>(
      ctx,
      sql`select jsonb_agg(id) as result from ${provider_events}
        where id in (select jsonb_array_elements_text(${ids}::jsonb))`,
    );
    missed.push(...data.filter(({ id }) => done?.includes(id) !== true));
    last = data.at(-1)?.id;
    if (!has_more) return missed;
  }
  ctx.log.warn("more events than are looked through in one night", { pages: MAX_PAGES });
  return missed;
}
