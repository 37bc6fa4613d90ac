import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import * as z from "zod";
import { type EventTaker, isEventOf } from "../../billing/provider-event.ts";
import { ifKnown, withProvider } from "../../billing/stripe.ts";
import { read } from "../../db/change.ts";
import { seller_accounts, users } from "../../db/schema/index.ts";
import { isId } from "../../platform/ids.ts";
import { gone, mirrorAccount } from "./mirror.ts";

const TYPES = ["account.updated", "account.application.deauthorized"] as const satisfies Stripe.Event.Type[];

/** The database's time before the provider is read, with all its digits, and whose connected account it is. */
const Start = z.object({ at: z.string(), user_id: z.uuid().nullable() });

/**
 * Mirrors what sellers' connected accounts may do onto their users. An account whose row was lost after it was made names
 * its user in its metadata and gets the row; one of a user who has another account, or was not who opened it, is ignored. One
 * that is connected to ours no more, which the second event tells, may do nothing.
 */
export const sellerEvents: EventTaker = {
  types: new Set(TYPES),
  takesConnected: true,
  async take(ctx, event) {
    if (!isEventOf(TYPES, event)) return;
    const shown = event.type === "account.updated" ? event.data.object : undefined;
    const id = shown?.id ?? event.account;
    if (id === undefined) return;
    const named = shown?.metadata?.["user_id"];
    const maker = named !== undefined && isId(named) ? named : null;
    const start = await read(
      ctx,
      Start,
      sql`select jsonb_build_object('at', now(), 'user_id', coalesce(
        (select s.user_id from ${seller_accounts} s where s.account_id = ${id}),
        (select u.id from ${users} u where u.id = ${maker}::uuid))) as result`,
    );
    if (start === null || start.user_id === null) return;
    const account = await withProvider(ctx, (stripe) => ifKnown(stripe.accounts.retrieve(id)));
    if (account === null)
      ctx.log.warn("provider event about something unknown", {
        event_id: event.id,
        event_type: event.type,
        object_id: id,
      });
    await mirrorAccount(ctx, { user_id: start.user_id, at: start.at }, account ?? gone(id));
  },
};
