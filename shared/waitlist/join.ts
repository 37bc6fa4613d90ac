import { sql } from "drizzle-orm";
import type * as z from "zod";
import { takeAllowance } from "../billing/allowances.ts";
import { allowances, waitlist_entries } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { MailMessage } from "../mail/message.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import { flush } from "../db/outbox.ts";
import { owe, owed } from "../db/owed.ts";
import type { Message } from "../platform/message.ts";
import type { EnterpriseWaitlistRequest } from "./schemas.ts";

/** How many entries of one address are mailed about in a day (UTC), and how many mails go out in all. */
export const CEILINGS = { sourceDaily: 3, hourly: 50, daily: 200 } as const;

/** Who wants to hear of which plan. */
export type Lead = { list: "pro" | "enterprise" } & z.output<typeof EnterpriseWaitlistRequest>;

/**
 * Puts an address on a waitlist, once however often it comes; what came first stays. Owes a mail to it, and for an
 * enterprise lead one to each operator, within CEILINGS: all of them or, past a ceiling, none, while the entry is kept.
 * Returns whether the address is new to the list.
 */
export async function joinWaitlist(ctx: Context, lead: Lead): Promise<boolean> {
  const { list, email, company = null, seats = null, message = null } = lead;
  const mails = mailsAbout(ctx, lead).map((mail, index) => ({ part: `mail_${index}`, mail }));
  const now = ctx.now().toISOString();
  const [day, hour] = [now.slice(0, 10), now.slice(0, 13)];
  const parts = mails.map(
    ({ part, mail }) =>
      sql`${sql.identifier(part)} as (${owe("mail", mail.id, sql`${JSON.stringify(mail)}::jsonb`, sql`from mailed`)})`,
  );
  const ctes = sql`with entry as (
    insert into ${waitlist_entries} (list, email, company, seats, message, created_at)
    values (${list}, ${email}, ${company}, ${seats}::integer, ${message}, ${now}::timestamptz)
    on conflict (list, email) do nothing returning id
  ), needed (kind, owner, period, units, most) as (
    values ('lead_source', ${ctx.addressHash ?? "unknown"}, ${day}, 1, ${CEILINGS.sourceDaily}::integer),
      ('lead_hour', 'all', ${hour}, ${mails.length}::integer, ${CEILINGS.hourly}::integer),
      ('lead_day', 'all', ${day}, ${mails.length}::integer, ${CEILINGS.daily}::integer)
  ), mailed as (
    select id from entry where not exists (
      select from needed n left join ${allowances} w using (kind, owner, period)
      where coalesce(w.used, 0) + n.units > n.most)
  ), counted as (
    ${takeAllowance(sql`select kind, owner, period, units from needed where exists (select from mailed)`)}
  ), ${sql.join(parts, sql`, `)}`;
  const result = sql`select jsonb_build_object('joined', exists (select from entry),
    'messages', ${owed("mail_0", ...mails.slice(1).map(({ part }) => part))}) as result`;
  // Three allowances or none: one lead at a time, so that each sees what all before it have used.
  const lock = sql`select pg_advisory_xact_lock(hashtext('leads'))`;
  const { joined, messages } = await writeJson<{ joined: boolean; messages: Message[] }>(ctx, ctes, result, lock);
  ctx.defer(() => flush(ctx, messages));
  return joined;
}

/** The mails about a lead: what it gets itself comes first. */
function mailsAbout(ctx: Context, lead: Lead): z.input<typeof MailMessage>[] {
  const { list, email, company = null, seats = null, message = null } = lead;
  const operators = list === "enterprise" ? [...ctx.env.ADMIN_EMAILS] : [];
  return [
    { id: newId(ctx.now()), to: email, template: "waitlist_joined", params: { list } },
    ...operators.map((to) => ({
      id: newId(ctx.now()),
      to,
      template: "enterprise_lead" as const,
      params: { email, company, seats, message },
    })),
  ];
}
