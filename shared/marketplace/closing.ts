import { sql } from "drizzle-orm";
import { owePagesEnd } from "../billing/closing.ts";
import type { CloseDomain } from "../db/closing.ts";
import { listings, purchases, revenue, seller_accounts } from "../db/schema/index.ts";

/**
 * Deletes the account's listings and its seller account, and owes the queue the end of the pages at which it could still
 * buy. Purchases and revenue stay without its name: they are the other party's, too.
 */
export const closing: CloseDomain = () => ({
  parts: {
    purchase_pages: owePagesEnd(
      sql`select p.checkout_session_id from ${purchases} p join u on u.id = p.buyer_id
        where p.status = 'AWAITING_PAYMENT'`,
    ),
    offers: sql`delete from ${listings} l using u where l.seller_id = u.id`,
    selling: sql`delete from ${seller_accounts} s using u where s.user_id = u.id`,
    trades: sql`update ${purchases} p set buyer_id = nullif(p.buyer_id, u.id), seller_id = nullif(p.seller_id, u.id)
      from u where u.id in (p.buyer_id, p.seller_id)`,
    earned: sql`update ${revenue} r set seller_id = null from u where r.seller_id = u.id`,
  },
  owes: ["purchase_pages"],
});
