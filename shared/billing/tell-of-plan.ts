import { type SQL, sql } from "drizzle-orm";
import { PLAN_NAMES, users } from "../db/schema/index.ts";
import { oweNotice } from "../mail/owe-notice.ts";

/** The plans, from the smallest to the largest. */
const PLANS_BY_SIZE = sql`array[${sql.join(
  PLAN_NAMES.map((name) => sql`${name}`),
  sql`, `,
)}]::text[]`;

/**
 * SQL: a part that mails an account once its plan has become smaller, and once the renewal of it was not paid: whoever
 * hears of that in time can still pay. It reads the parts `entitled` (the columns `id`, `plan` and `former`, the plan that
 * it had) and `written` (`user_id`, and `status` and `former_status` of its subscription).
 */
export function tellOfPlan(): SQL {
  return oweNotice(
    "allowance",
    sql`select e.id as user_id, 'plan_smaller' as notice, e.plan as title, case
        when e.plan = 'free' and s.status = 'unpaid' then 'The renewal of the plan ' || e.former || ' was not paid.'
        when e.plan = 'free' then 'The subscription to the plan ' || e.former || ' is over.'
        else 'The subscription pays for ' || e.plan || ' now, no longer for ' || e.former || '.' end as reason,
      null::uuid as page_id
    from entitled e join written s on s.user_id = e.id
    where array_position(${PLANS_BY_SIZE}, e.plan) < array_position(${PLANS_BY_SIZE}, e.former)
    union all
    select w.user_id, 'plan_unpaid', p.plan, null, null
    from written w join ${users} p on p.id = w.user_id
    where w.status = 'past_due' and w.former_status is distinct from 'past_due' and p.plan in ('pro', 'team')`,
  );
}
