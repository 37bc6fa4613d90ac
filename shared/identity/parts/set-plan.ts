import { type SQL, sql } from "drizzle-orm";
import { users } from "../../db/schema/index.ts";

/**
 * SQL: a part that gives these accounts (a query of their ids) the plan that `plan` yields, where `condition` holds; both
 * are expressions over the row `u`. Returns the ids and plans of those that were updated, and the `former` plans.
 */
export function setPlan(userIds: SQL, plan: SQL, condition: SQL = sql`true`): SQL {
  return sql`update ${users} u set plan = ${plan}, updated_at = now()
    where u.id in (${userIds}) and ${condition} returning u.id, u.plan, old.plan as former`;
}
