import * as z from "zod";
import { takeEvent, verifyEvent } from "../../shared/billing/receive.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { TAKERS } from "../../shared/payments/takers.ts";

const MAX_BYTES = 256 * 1024;

const ProviderEvent = z.instanceof(Uint8Array).meta({
  id: "ProviderEvent",
  description: "A Stripe event, byte for byte as it was signed",
});

const ProviderEventReceipt = z
  .object({
    status: z.literal("ok"),
    event_type: z.string(),
    deduplicated: z
      .boolean()
      .meta({ description: "Whether the event had been processed before, so that nothing was left to do" }),
  })
  .meta({ id: "ProviderEventReceipt" });

export const providerWebhook = [
  route({
    id: "receiveProviderEvent",
    method: "post",
    path: "/api/v1/payment-provider/webhook",
    tag: "Billing",
    summary: "Receive an event of the payment provider",
    description:
      "For Stripe, which signs each delivery in `Stripe-Signature`; the signature covers the raw body, of at most " +
      "256 KiB, and is valid for 5 minutes. An event only says that something changed: its object is read from " +
      "Stripe again, so repeated, late and reordered events lead to the same state. An event is recorded as done " +
      "once all of its work is done; any answer but 200 asks for it again. Events of types that need no work are " +
      "acknowledged and recorded too, and so are events about an object that Stripe no longer knows. Events of the " +
      "other mode (test or live) than the service's key are acknowledged and otherwise ignored.",
    auth: "none",
    needs: "signature",
    // The signature says who calls; a limit would turn the provider's bursts into lost time.
    limit: null,
    body: ProviderEvent,
    accepts: { types: [], maxBytes: MAX_BYTES, asBytes: true },
    returns: { 200: ProviderEventReceipt },
    problems: ["invalid_signature", "malformed_json", "payment_not_configured", "payment_in_progress"],
    async handler({ ctx, body, c }) {
      const event = await verifyEvent(ctx, body, c.req.header("stripe-signature"));
      ctx.log = ctx.log.with({ event_id: event.id, event_type: event.type });
      const isFirst = await takeEvent(ctx, TAKERS, event);
      return ok({ status: "ok", event_type: event.type, deduplicated: !isFirst });
    },
  }),
];
