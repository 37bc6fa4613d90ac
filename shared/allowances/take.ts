import { type SQL, sql } from "drizzle-orm";
import { allowances } from "../db/schema/index.ts";

/**
 * SQL: a part that takes from one allowance per row of the query `taken` (columns `kind`, `owner`, `period`, `used`). Where
 * the allowance has been used before, `units` are taken instead, but only if `condition` holds; both may refer to the
 * existing row `w` and the new row `excluded`. Returns what is `used` afterwards and the `units` taken.
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
 * SQL: a part that gives back one unit for each run that the query `ended` selects (columns `paid_kind`, `paid_owner`,
 * `paid_period`). An anonymous trial's goes back to both the allowance of its address and the one all trials share.
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
