import { sql } from "drizzle-orm";
import { owePagesEnd } from "../billing/closing.ts";
import type { CloseDomain } from "../db/closing.ts";
import { agents, certifications } from "../db/schema/index.ts";

/**
 * Revokes the credentials of the account's agents, deletes their certifications that never led to one, and owes the queue
 * the end of the checkout pages that could still be paid, also of those that it opened for other owners' agents. What it
 * bought for these stays, without the account's name.
 */
export const closing: CloseDomain = ({ now, owns }) => {
  const at = sql`${now.toISOString()}::timestamptz`;
  return {
    parts: {
      certification_pages: owePagesEnd(
        sql`select c.checkout_session_id from ${certifications} c join ${agents} a on a.id = c.agent_id, u
          where c.status = 'awaiting_payment' and (c.user_id = u.id or ${owns})`,
      ),
      certificates: sql`update ${certifications} c
        set status = case c.status when 'certified' then 'expired' else c.status end, user_id = null,
          revoked_at = coalesce(c.revoked_at, ${at}), jws = null, kid = null, updated_at = ${at}
        from u, ${agents} a where c.agent_id = a.id and c.issued_at is not null and ${owns}`,
      uncertified: sql`delete from ${certifications} c using u, ${agents} a
        where c.agent_id = a.id and c.issued_at is null and ${owns}`,
      bought: sql`update ${certifications} c set user_id = null from u, ${agents} a
        where c.user_id = u.id and c.agent_id = a.id and not ${owns}`,
    },
    owes: ["certification_pages"],
  };
};
