import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import type { EventTaker } from "../../billing/provider-event.ts";
import { withProvider } from "../../billing/stripe.ts";
import { isDeleted } from "../../db/deleted.ts";
import { seller_accounts, users } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import { mirrorSeller } from "../../identity/parts/mirror-seller.ts";
import { isId } from "../../platform/ids.ts";

/**
 * Mirrors what sellers' connected accounts may do onto their users. An account that was made while its row was lost is
 * known by its metadata and gets the row; one of somebody who has another is ignored.
 */
export const sellerEvents: EventTaker = {
  types: new Set(["account.updated"]),
  takesConnected: true,
  async take(ctx, event) {
    const { id, metadata } = event.data.object as Stripe.Account;
    const named = metadata?.["user_id"];
    const maker = named !== undefined && isId(named) ? named : null;
    const before = await readJson<{ user_id: string | null; now: string }>(
      ctx,
      sql`select jsonb_build_object('now', now(), 'user_id', coalesce(
        (select s.user_id from ${seller_accounts} s where s.account_id = ${id}),
        (select u.id from ${users} u where u.id = ${maker}::uuid))) as result`,
    );
    if (before === null || before.user_id === null) return;
    const account = await withProvider(ctx, (stripe) => stripe.accounts.retrieve(id));
    await ctx.db.execute(sql`with owner as (
      select u.id from ${users} u where u.id = ${before.user_id}::uuid and not ${isDeleted} for no key update
    ), s as (
      insert into ${seller_accounts} as s (user_id, account_id, read_at)
      select id, ${id}, ${before.now}::timestamptz from owner
      on conflict (user_id) do update set read_at = excluded.read_at
      where s.account_id = excluded.account_id and coalesce(s.read_at <= excluded.read_at, true) returning s.user_id
    )
    ${mirrorSeller(sql`select user_id from s`, account)}`);
  },
};
