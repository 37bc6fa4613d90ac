import { sql } from "drizzle-orm";
import { owePagesEnd } from "../billing/closing.ts";
import { listings, purchases, seller_accounts } from "../db/schema/index.ts";
import type { DisownInDomain } from "../identity/passwords/disown.ts";

/**
 * Has the accounts' connected accounts at the payment provider get nothing any more: whoever opened one would be paid for
 * what somebody else sells. Their rows stay, so that the provider's events about them find no other place.
 */
export const disownSellers: DisownInDomain = ({ now }) => sql`
  update ${seller_accounts} s set disowned_at = ${now.toISOString()}::timestamptz from claimed c
  where s.user_id = c.id and not c.proven and s.disowned_at is null`;

/** Takes what the accounts offer off the market: nobody else has chosen to sell it. */
export const disownListings: DisownInDomain = () => sql`
  update ${listings} l set is_active = false from claimed c where l.seller_id = c.id and not c.proven and l.is_active`;

/** Has the pages closed at which the accounts' sales are still to be paid: whoever pays there pays the stranger. */
export const disownPages: DisownInDomain = () => ({
  owes: owePagesEnd(sql`select p.checkout_session_id from ${purchases} p join claimed c on c.id = p.seller_id
    where not c.proven and p.status = 'AWAITING_PAYMENT'`),
});
