import type * as z from "zod";
import type { MailMessage } from "../mail/message.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import type { EnterpriseWaitlistRequest } from "./schemas.ts";

/** Who wants to hear of which plan. */
export type Lead = { list: "pro" | "enterprise" } & z.output<typeof EnterpriseWaitlistRequest>;

/** The mails about a lead: one to its address and, for an enterprise lead, one to each operator. */
export function mailsAbout(ctx: Context, lead: Lead): z.input<typeof MailMessage>[] {
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
