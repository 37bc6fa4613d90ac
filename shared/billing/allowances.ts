import { type SQL, sql } from "drizzle-orm";
import { allowances } from "../db/schema/index.ts";

/**
 * SQL: a part that takes from allowances, for each row of `taken`, a query of the columns `kind`, `owner`, `period` and
 * `used`. Of an allowance that is in use already, `units` (over its row `w` and the new row `excluded`) are taken, and
 * only while `condition` holds. Returns what was `used` after it, and the `units` that were taken.
 */
export function takeAllowance(
  taken: SQL,
  { units = sql`excluded.used`, condition = sql`true` }: { units?: SQL; condition?: SQL } = {},
): SQL {
  return sql`insert into ${allowances} as w (kind, owner, period, used) ${taken}
    on conflict (kind, owner, period) do update set used = w.used + ${units} where ${condition}
    returning new.used, new.used - coalesce(old.used, 0) as units`;
}

/**
 * SQL: a part that gives back what runs have taken, one unit for each row of `ended`, a query of the columns `paid_kind`,
 * `paid_owner` and `paid_period`; that of an anonymous trial to its address and to all.
 */
export function giveBackAllowance(ended: SQL): SQL {
  return sql`update ${allowances} w set used = greatest(0, w.used - x.units)
    from (
      select p.kind, p.owner, e.paid_period as period, count(*)::integer as units
      from (${ended}) e cross join lateral (
        values (e.paid_kind, e.paid_owner), (case when e.paid_kind = 'trial_address' then 'trial_global' end, 'all')
      ) as p(kind, owner)
      group by 1, 2, 3
    ) x
    where w.kind = x.kind and w.owner = x.owner and w.period = x.period`;
}
