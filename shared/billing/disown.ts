import { sql } from "drizzle-orm";
import { billing_customers } from "../db/schema/index.ts";
import type { DisownInDomain } from "../identity/passwords/disown.ts";
import { oweEnds } from "./closing.ts";

/**
 * Has the accounts' customers end at the payment provider, and with them what the stranger pays for: cards, invoices and
 * the portal would be the stranger's. The row stays, so that the provider's events end the plan, and the next purchase makes
 * a customer of its own.
 */
export const disownCustomers: DisownInDomain = () => ({
  owes: oweEnds(sql`select jsonb_build_object('customer_id', b.customer_id) as body from ${billing_customers} b
    join claimed c on c.id = b.user_id where not c.proven`),
});
