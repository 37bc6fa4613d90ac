import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import * as z from "zod";
import { type EventTaker, isEventOf } from "../../billing/provider-event.ts";
import { withProvider } from "../../billing/stripe.ts";
import { read } from "../../db/change.ts";
import { seller_accounts, users } from "../../db/schema/index.ts";
import { isId } from "../../platform/ids.ts";
import { mirrorAccount } from "./mirror.ts";

const TYPES = ["account.updated"] as const satisfies Stripe.Event.Type[];

/** The database's time before the provider is read, with all its digits, and whose connected account it is. */
const Start = z.object({ at: z.string(), user_id: z.uuid().nullable() });

/**
 * Mirrors what sellers' connected accounts may do onto their users. An account whose row was lost after it was made names
 * its user in its metadata and gets the row; one of a user who has another account, or was not who opened it, is ignored.
 */
export const sellerEvents: EventTaker = {
  types: new Set(TYPES),
  takesConnected: true,
  async take(ctx, event) {
    if (!isEventOf(TYPES, event)) return;
    const { id, metadata } = event.data.object;
    const named = metadata?.["user_id"];
    const maker = named !== undefined && isId(named) ? named : null;
    const start = await read(
      ctx,
      Start,
      sql`select jsonb_build_object('at', now(), 'user_id', coalesce(
        (select s.user_id from ${seller_accounts} s where s.account_id = ${id}),
        (select u.id from ${users} u where u.id = ${maker}::uuid))) as result`,
    );
    if (start === null || start.user_id === null) return;
    const account = await withProvider(ctx, (stripe) => stripe.accounts.retrieve(id));
    await mirrorAccount(ctx, { user_id: start.user_id, at: start.at }, account);
  },
};
