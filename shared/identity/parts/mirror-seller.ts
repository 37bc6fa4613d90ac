import { type SQL, sql } from "drizzle-orm";
import { users } from "../../db/schema/index.ts";

/** SQL: a part that notes what the connected accounts of these users (a query of their ids) may do at the payment provider. */
export function mirrorSeller(
  userIds: SQL,
  account: { readonly charges_enabled: boolean; readonly payouts_enabled: boolean },
): SQL {
  return sql`update ${users} u set charges_enabled = ${account.charges_enabled}, payouts_enabled = ${account.payouts_enabled},
    updated_at = now() where u.id in (${userIds})`;
}
