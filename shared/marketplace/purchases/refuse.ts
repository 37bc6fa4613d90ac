import { sql } from "drizzle-orm";
import { isMissing } from "../../billing/stripe.ts";
import { purchases, seller_accounts } from "../../db/schema/index.ts";
import { mirrorSeller } from "../../identity/parts/mirror-seller.ts";
import type { Context } from "../../platform/context.ts";
import { Problem } from "../../platform/problem.ts";
import type { Order } from "./begin.ts";

/** The problem of a purchase whose seller can't be paid. */
export const sellerNotReady = (): Problem =>
  new Problem(
    "seller_not_ready",
    "The payment provider can't pay this seller at the moment; nothing was bought or charged. Try again once the seller has set up payments anew.",
  );

/**
 * What a checkout's refusal by the provider means. Where the seller can't be paid, because the connected account is gone
 * or was restricted, the purchase ends as failed, without a page; an account that is gone also takes the seller's
 * listings off the market, until another one is onboarded. Any other error is returned as it is.
 */
export async function refusalOf(
  ctx: Context,
  purchaseId: string,
  { destination }: Order,
  error: unknown,
): Promise<unknown> {
  const isGone = isMissing(error);
  if (!isGone && !isRestricted(error)) return error;
  ctx.log.warn("seller can't be paid", { purchase_id: purchaseId, account_id: destination, is_gone: isGone });
  const sellers = sql`select user_id from ${seller_accounts} where account_id = ${destination} and ${isGone}`;
  // Not by `write`, which would keep this step under the request's Idempotency-Key: that one is for the whole answer.
  await ctx.db.execute(sql`with mirrored as (
      ${mirrorSeller(sellers, { charges_enabled: false, payouts_enabled: false })}
    ) update ${purchases} set status = 'FAILED'
      where id = ${purchaseId}::uuid and status = 'AWAITING_PAYMENT' and checkout_session_id is null`);
  return sellerNotReady();
}

/** Whether the connected account may get no payments of ours: none at all, or none since it is in another region. */
function isRestricted(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  // Of the region the provider gives no code.
  return (
    error.code === "insufficient_capabilities_for_transfer" || error.message.includes("outside the platform's region")
  );
}
