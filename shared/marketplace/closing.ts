import { sql } from "drizzle-orm";
import { owePagesEnd } from "../billing/closing.ts";
import type { CloseDomain } from "../db/closing.ts";
import { anyOf, chunkNaming } from "../db/closing-chunks.ts";
import { listings, purchases, revenue, seller_accounts } from "../db/schema/index.ts";

/**
 * Deletes the account's listings and its seller account, and owes the queue the end of the pages at which it could still
 * buy. Purchases and revenue stay without its name: they are the other party's, too. What it declared of what it sold goes,
 * but for what may still be paid: that goes when the purchase is settled.
 */
export const closing: CloseDomain = (account) => ({
  parts: {
    purchase_pages: owePagesEnd(
      sql`select p.checkout_session_id from ${purchases} p join u on u.id = p.buyer_id
        where p.status = 'AWAITING_PAYMENT'`,
    ),
    offers: sql`delete from ${listings} l using u where l.seller_id = u.id`,
    selling: sql`delete from ${seller_accounts} s using u where s.user_id = u.id`,
  },
  owes: ["purchase_pages"],
  chunks: [
    (place) => sql`${chunkNaming(account, purchases, place, "buyer_id")}, done as (
      update ${purchases} p set buyer_id = null where p.id = ${anyOf("chunk")} returning p.id
    )`,
    (place) => sql`${chunkNaming(account, purchases, place, "seller_id")}, done as (
      update ${purchases} p set seller_id = null,
        declared_configuration = case when p.status = 'AWAITING_PAYMENT' then p.declared_configuration end
      where p.id = ${anyOf("chunk")} returning p.id
    )`,
    (place) => sql`${chunkNaming(account, revenue, place, "seller_id", "purchase_id")}, done as (
      update ${revenue} r set seller_id = null where r.purchase_id = ${anyOf("chunk", "purchase_id")} returning r.purchase_id
    )`,
  ],
});
