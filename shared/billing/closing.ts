import { type SQL, sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { owe, oweAnew } from "../db/owed.ts";
import { billing_customers } from "../db/schema/index.ts";
import { newId } from "../platform/ids.ts";

/** Forgets the account's customer, and owes the queue its end at the provider. */
export const closing: CloseDomain = ({ now }) => ({
  parts: {
    customers: sql`delete from ${billing_customers} b using u where b.user_id = u.id returning b.customer_id`,
    cancelled: owe(
      "cancel-billing",
      newId(now),
      sql`jsonb_build_object('customer_id', customer_id)`,
      sql`from customers`,
    ),
  },
  owes: ["cancelled"],
});

/**
 * SQL: a part that has the queue close payment pages at the provider, so that nobody can pay there any more. The query
 * `pages` gives their `checkout_session_id`; rows without one are skipped.
 */
export function owePagesEnd(pages: SQL): SQL {
  return oweEnds(sql`select jsonb_build_object('checkout_session_id', checkout_session_id) as body
    from (${pages}) pages where checkout_session_id is not null`);
}

/** SQL: a part that has the queue do what each `body` of the query `ends` says: the messages of `closeAtProvider`. */
export function oweEnds(ends: SQL): SQL {
  return oweAnew(
    "cancel-billing",
    sql`select uuidv7() as id, 0 as generation, null as flow_key, null::timestamptz as not_before, body
      from (${ends}) ends`,
  );
}

/** SQL: such a part for the page that the part `kept` of the statement was to keep, and did not: nobody shall pay there. */
export function oweUnkeptEnd(checkoutSessionId: string): SQL {
  return owePagesEnd(sql`select ${checkoutSessionId}::text as checkout_session_id where not exists (select from kept)`);
}
