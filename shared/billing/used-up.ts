import { type SQL, sql } from "drizzle-orm";
import { teams } from "../db/schema/index.ts";
import { tellOnce } from "../mail/owe-notice.ts";

/**
 * SQL: the parts `{name}`, whose rows are messages, and `{name}_told`: they mail whoever pays once 80% of a monthly
 * allowance are used, and once all of it is, each once a month, and again where a larger plan's is. `taken` is a query of what
 * this statement took: the columns `user_id` (who pays), `kind`, `owner` and `period` of the allowance, `used` afterwards, the
 * `units` taken, and the `run_limit`. `{name}_told` has those of its rows that are told, with the `notice`.
 */
export function tellOfAllowance(name: string, taken: SQL): SQL {
  const passed = (share: SQL) => sql`(x.used >= ${share} and x.used - x.units < ${share})`;
  const all = passed(sql`x.run_limit`);
  return tellOnce(
    name,
    "allowance",
    sql`select x.*, case when ${all} then 'allowance_exhausted' else 'allowance_low' end as notice,
      concat_ws(':', x.kind, x.owner, x.period, x.run_limit) as about, x.used || ' of ' || x.run_limit || ' runs of this month'
        || case x.kind when 'team' then coalesce((select ' in the workspace “' || t.name || '”' from ${teams} t
          where t.id::text = x.owner), '') else '' end as title, null::text as reason, null::uuid as page_id
    from (${taken}) x where ${all} or ${passed(sql`ceil(x.run_limit * 0.8)`)}`,
  );
}
