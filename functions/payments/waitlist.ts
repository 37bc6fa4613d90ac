import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { joinWaitlist } from "../../shared/waitlist/join.ts";
import {
  EnterpriseWaitlistRequest,
  EnterpriseWaitlistResponse,
  NotifyMeRequest,
  NotifyMeResponse,
} from "../../shared/waitlist/schemas.ts";

const tag = "Billing";

export const waitlist = [
  route({
    id: "joinProWaitlist",
    method: "post",
    path: "/api/v1/billing/notify-me",
    tag,
    summary: "Ask to be notified when Pro is on sale",
    description:
      "An address is queued once, ignoring case. It gets a mail that confirms it, unless too many were sent.",
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
      "The answer is the same for an address that is queued already, whose first request is left unchanged. The " +
      "address gets a mail that confirms it, and the operators get one with the request, unless too many were sent.",
    auth: "open",
    body: EnterpriseWaitlistRequest,
    returns: { 200: EnterpriseWaitlistResponse },
    async handler({ ctx, body }) {
      await joinWaitlist(ctx, { list: "enterprise", ...body });
      return ok({ queued: true });
    },
  }),
];
