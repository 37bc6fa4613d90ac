import { sql } from "drizzle-orm";
import * as z from "zod";
import { takeAllowance } from "../allowances/take.ts";
import { write } from "../db/change.ts";
import { owe } from "../db/owed.ts";
import { allowances, waitlist_entries } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { type Lead, mailsAbout } from "./mails.ts";

/** How many entries of one address are mailed about in a day (UTC), and how many mails go out in all. */
const CEILINGS = { sourceDaily: 3, hourly: 50, daily: 200 } as const;

/**
 * Puts an address on a waitlist, once however often it comes; the first entry stays as it is. Owes a mail to the address,
 * and for an enterprise lead one to each operator, within CEILINGS: all of them or, past a ceiling, none; the entry is
 * kept either way. Returns whether the address is new to the list.
 */
export async function joinWaitlist(ctx: Context, lead: Lead): Promise<boolean> {
  const { list, email, company = null, seats = null, message = null } = lead;
  const mails = mailsAbout(ctx, lead);
  const bodies = sql`jsonb_array_elements(${JSON.stringify(mails)}::jsonb)`;
  const now = ctx.now().toISOString();
  const [day, hour] = [now.slice(0, 10), now.slice(0, 13)];
  const joined = await write(ctx, {
    // Three allowances or none: one lead at a time, so that each sees what all before it have used.
    lock: sql`select pg_advisory_xact_lock(hashtext('leads'))`,
    parts: sql`with entry as (
      insert into ${waitlist_entries} (list, email, company, seats, message, created_at)
      values (${list}, ${email}, ${company}, ${seats}::integer, ${message}, ${now}::timestamptz)
      on conflict (list, email) do nothing returning id
    ), needed (kind, owner, period, units, ceiling) as (
      values ('lead_source', ${ctx.addressHash ?? "unknown"}, ${day}, 1, ${CEILINGS.sourceDaily}::integer),
        ('lead_hour', 'all', ${hour}, ${mails.length}::integer, ${CEILINGS.hourly}::integer),
        ('lead_day', 'all', ${day}, ${mails.length}::integer, ${CEILINGS.daily}::integer)
    ), mailed as (
      select id from entry where not exists (
        select from needed n left join ${allowances} w using (kind, owner, period)
        where coalesce(w.used, 0) + n.units > n.ceiling)
    ), taken as (${takeAllowance(sql`select kind, owner, period, units from needed where exists (select from mailed)`)}
    ), mails as (${owe("mail", sql`(m.body ->> 'id')`, sql`m.body`, sql`from mailed, ${bodies} as m(body)`)})`,
    owes: ["mails"],
    select: sql`select to_jsonb(exists (select from entry)) as result`,
    result: z.boolean(),
  });
  return joined === true;
}
