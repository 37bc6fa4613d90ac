import * as z from "zod";
import { ok } from "../shared/http/reply.ts";
import { route } from "../shared/http/route.ts";
import { joinWaitlist } from "../shared/waitlist/join.ts";
import {
  EnterpriseWaitlistRequest,
  EnterpriseWaitlistResponse,
  NotifyMeRequest,
  NotifyMeResponse,
} from "../shared/waitlist/schemas.ts";

const tag = "Billing";

const BillingStatusResponse = z
  .object({
    billing_enabled: z.boolean().meta({ description: "Whether plans can be bought and cancelled" }),
    payment_configured: z.boolean().meta({ description: "Whether the payment provider is set up" }),
    dev_mode: z.boolean().meta({ description: "Upgrades are instant and cost nothing; never so in production" }),
  })
  .meta({ id: "BillingStatusResponse" });

export const waitlist = [
  route({
    id: "readBillingStatus",
    method: "get",
    path: "/api/v1/billing/status",
    tag,
    summary: "Whether billing is enabled",
    description: "While it is disabled, nothing can be bought or cancelled; this and the waitlists go on.",
    auth: "open",
    returns: { 200: BillingStatusResponse },
    handler({ ctx: { env } }) {
      const payment_configured = env.STRIPE_SECRET_KEY !== undefined;
      const dev_mode = env.ENVIRONMENT !== "production" && !payment_configured;
      return ok({ billing_enabled: env.FLAGS.has("billing"), payment_configured, dev_mode });
    },
  }),
  route({
    id: "joinProWaitlist",
    method: "post",
    path: "/api/v1/billing/notify-me",
    tag,
    summary: "Ask to hear when Pro is on sale",
    description: "An address is queued once, in any case. It gets a mail that says so, unless too many were sent.",
    auth: "open",
    body: NotifyMeRequest,
    returns: { 200: NotifyMeResponse },
    async handler({ ctx, body }) {
      const joined = await joinWaitlist(ctx, { list: "pro", ...body });
      return ok(joined ? { queued: true } : { queued: false, reason: "already_queued" });
    },
  }),
  route({
    id: "joinEnterpriseWaitlist",
    method: "post",
    path: "/api/v1/billing/enterprise-waitlist",
    tag,
    summary: "Ask for an Enterprise plan",
    description:
      "Answers the same for an address that is queued already, whose first request stays as it was. The address gets a " +
      "mail that says so, and the operators one with the request, unless too many were sent.",
    auth: "open",
    body: EnterpriseWaitlistRequest,
    returns: { 200: EnterpriseWaitlistResponse },
    async handler({ ctx, body }) {
      await joinWaitlist(ctx, { list: "enterprise", ...body });
      return ok({ queued: true });
    },
  }),
];
