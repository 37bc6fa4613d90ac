import { sql } from "drizzle-orm";
import type { CloseDomain } from "../db/closing.ts";
import { allowances, teams } from "../db/schema/index.ts";

/**
 * Forgets at last what the account and its workspaces used up. A submission holds that before it waits for the account, which
 * the closing holds: not in one transaction.
 */
export const closing: CloseDomain = ({ id }) => ({
  rest: [
    sql`delete from ${allowances} w where (w.kind = 'user' and w.owner = ${id}::uuid::text)
      or (w.kind = 'team' and w.owner in (select t.id::text from ${teams} t where t.owner_id = ${id}::uuid))`,
  ],
});
