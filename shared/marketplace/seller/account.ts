import { type SQL, sql } from "drizzle-orm";
import type Stripe from "stripe";
import * as z from "zod";
import { ifKnown, type Payments, underKey, withProvider } from "../../billing/stripe.ts";
import { read, writeInTurn } from "../../db/change.ts";
import { seller_accounts, users } from "../../db/schema/index.ts";
import { mirrorSeller } from "../../identity/parts/mirror-seller.ts";
import { stillHolds } from "../../identity/passwords/disown.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { frontendPage } from "../../platform/frontend.ts";
import { newId } from "../../platform/ids.ts";
import { endedMeanwhile } from "../../platform/problem.ts";
import type { SellerAccountRead } from "../shown.ts";
import { mirrorAccount } from "./mirror.ts";

const Seller = z.object({
  /** The database's time, with all its digits. */
  at: z.string(),
  account_id: z.string().nullable(),
  /** Whether it can be the user's: not where somebody else opened it. */
  is_own: z.boolean(),
});

/**
 * A fresh link to the onboarding of the caller's connected account, and what that may do, as the provider says now: so a
 * seller whose event was lost is not kept waiting for it. The account is made where there is none, or none any
 * more (somebody may delete it in the provider's dashboard, or a stranger have opened it): one, however many calls come at
 * once. Throws `payment_not_configured`, `payment_in_progress`.
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
      sql`select jsonb_build_object('at', now(), 'account_id', s.account_id, 'is_own', s.disowned_at is null) as result
        from ${users} u left join ${seller_accounts} s on s.user_id = u.id where u.id = ${userId}::uuid`,
    );
    if (seller === null) throw endedMeanwhile();
    const { at, account_id: known, is_own } = seller;
    const page = frontendPage(ctx.env, "/marketplace/seller");
    const link = (account: string) =>
      stripe.accountLinks.create(
        { account, type: "account_onboarding", refresh_url: `${page}?onboarding=refresh`, return_url: page },
        { idempotencyKey: `seller-link-${newId(ctx.now())}` },
      );
    const former = known !== null && is_own ? known : await makeAccount(ctx, stripe, principal, known);
    const opened = await ifKnown(Promise.all([link(former), stripe.accounts.retrieve(former)]));
    if (opened !== null) {
      const [{ url }, account] = opened;
      await mirrorAccount(ctx, { user_id: userId, at }, account);
      return { url, charges_enabled: account.charges_enabled, payouts_enabled: account.payouts_enabled };
    }
    ctx.log.warn("seller's account is gone at the provider", { user_id: userId, account_id: former });
    const { url } = await link(await makeAccount(ctx, stripe, principal, former));
    return { url, charges_enabled: false, payouts_enabled: false };
  });
}

/**
 * Makes the account and stores it where there is none, or still `former`, with which the seller can't be paid. Returns the
 * one that is stored, where another call was faster. Calls wait for each other at their user: of rows that are inserted at
 * the same moment `on conflict` only looks at the key that it names, and these are the same in two. Throws
 * `unauthenticated` to whoever has lost the user's account meanwhile.
 */
async function makeAccount(
  ctx: Context,
  stripe: Payments,
  principal: SessionPrincipal,
  former: string | null,
): Promise<string> {
  const { userId } = principal;
  const wanted: Stripe.AccountCreateParams = {
    type: "express",
    capabilities: { card_payments: { requested: true }, transfers: { requested: true } },
    metadata: { user_id: userId },
  };
  const key = former === null ? `seller-account-${userId}` : `seller-account-${userId}-after-${former}`;
  const { id } = await underKey(key, (options) => stripe.accounts.create(wanted, options));
  const only = (value: SQL, otherwise: SQL): SQL =>
    sql`case s.account_id when ${former}::text then ${value} else ${otherwise} end`;
  const step = {
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    parts: sql`with owner as (
      select u.id from ${users} u where u.id = ${userId}::uuid and ${stillHolds(principal)}
    ), kept as (
      insert into ${seller_accounts} as s (user_id, account_id) select id, ${id} from owner
      on conflict (user_id) do update set account_id = ${only(sql`excluded.account_id`, sql`s.account_id`)},
        read_at = ${only(sql`null`, sql`s.read_at`)}, disowned_at = ${only(sql`null`, sql`s.disowned_at`)}
      returning s.user_id, new.account_id, old.account_id <> new.account_id as is_replaced
    ), mirrored as (
      ${mirrorSeller(sql`select user_id from kept where is_replaced`, { charges_enabled: false, payouts_enabled: false })}
    )`,
    select: sql`select to_jsonb(account_id) from kept`,
    result: z.string(),
  };
  const kept = await writeInTurn(ctx, step, []);
  if (kept === null) throw endedMeanwhile();
  return kept;
}
