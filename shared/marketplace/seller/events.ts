import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import * as z from "zod";
import { type EventTaker, isEventOf } from "../../billing/provider-event.ts";
import { withProvider } from "../../billing/stripe.ts";
import { read, write } from "../../db/change.ts";
import { isDeleted } from "../../db/deleted.ts";
import { seller_accounts, users } from "../../db/schema/index.ts";
import { mirrorSeller } from "../../identity/parts/mirror-seller.ts";
import { isId } from "../../platform/ids.ts";

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
    await write(ctx, {
      parts: sql`with owner as (
        select u.id from ${users} u where u.id = ${start.user_id}::uuid and not ${isDeleted} for no key update
      ), s as (
        insert into ${seller_accounts} as s (user_id, account_id, read_at)
        select id, ${id}, ${start.at}::timestamptz from owner
        on conflict (user_id) do update set read_at = excluded.read_at
        where s.account_id = excluded.account_id and s.disowned_at is null and coalesce(s.read_at <= excluded.read_at, true) returning s.user_id
      ), mirrored as (
        ${mirrorSeller(sql`select user_id from s`, account)}
      )`,
      select: sql`select to_jsonb(user_id) as result from s`,
      result: z.uuid(),
    });
  },
};
