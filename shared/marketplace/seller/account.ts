import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import * as z from "zod";
import { frontendPage } from "../../billing/page.ts";
import { underKey, withProvider } from "../../billing/stripe.ts";
import { read } from "../../db/change.ts";
import { seller_accounts, users } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";
import { SellerAccountRead } from "../schemas.ts";

const Seller = SellerAccountRead.pick({ charges_enabled: true, payouts_enabled: true }).extend({
  account_id: z.string().nullable(),
});

/**
 * A fresh link to the onboarding of the caller's connected account, which the first call makes: one, however many calls
 * come at once. Throws `payment_not_configured`, `payment_in_progress`.
 */
export async function openSellerAccount(
  ctx: Context,
  principal: SessionPrincipal,
): Promise<z.output<typeof SellerAccountRead>> {
  const { userId } = principal;
  return withProvider(ctx, async (stripe) => {
    const seller = await read(
      ctx,
      Seller,
      sql`select jsonb_build_object('account_id', s.account_id, 'charges_enabled', u.charges_enabled,
          'payouts_enabled', u.payouts_enabled) as result
        from ${users} u left join ${seller_accounts} s on s.user_id = u.id where u.id = ${userId}::uuid`,
    );
    const { account_id: known = null, charges_enabled = false, payouts_enabled = false } = seller ?? {};
    const account = known ?? (await makeAccount(ctx, stripe, userId));
    const page = frontendPage(ctx.env, "/marketplace/seller");
    const { url } = await stripe.accountLinks.create(
      { account, type: "account_onboarding", refresh_url: `${page}?onboarding=refresh`, return_url: page },
      { idempotencyKey: `seller-link-${newId(ctx.now())}` },
    );
    return { url, charges_enabled, payouts_enabled };
  });
}

/** Makes the account and stores it; returns the one that is stored, where another call was faster. */
async function makeAccount(ctx: Context, stripe: Stripe, userId: string): Promise<string> {
  const wanted: Stripe.AccountCreateParams = {
    type: "express",
    capabilities: { card_payments: { requested: true }, transfers: { requested: true } },
    metadata: { user_id: userId },
  };
  const { id } = await underKey(`seller-account-${userId}`, (options) => stripe.accounts.create(wanted, options));
  const kept = await read(
    ctx,
    z.string(),
    sql`insert into ${seller_accounts} (user_id, account_id) values (${userId}::uuid, ${id})
      on conflict (user_id) do update set user_id = excluded.user_id returning to_jsonb(account_id) as result`,
  );
  return kept ?? id;
}
