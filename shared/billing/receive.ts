import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import * as z from "zod";
import { read, write } from "../db/change.ts";
import { provider_events } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { Problem } from "../platform/problem.ts";
import type { EventTaker } from "./provider-event.ts";
import { isMissing, loadStripe } from "./stripe.ts";

/** How long after its signing a delivery is accepted; the provider signs each attempt anew. */
const TOLERANCE_S = 300;

const Shape = z.object({
  id: z.string().min(1).max(255),
  type: z.string().min(1).max(255),
  livemode: z.boolean(),
  data: z.object({ object: z.object({}) }),
});

/**
 * The event that a delivery carries, once a signature over these very bytes holds: each endpoint at the provider, for
 * our own account and for connected ones, has a secret of its own. Throws 503 `payment_not_configured` without any, 400
 * `invalid_signature`, 400 `malformed_json` for a signed body that is no event with its
 * object, as a thin one is not.
 */
export async function verifyEvent(
  ctx: Pick<Context, "env" | "now">,
  payload: Uint8Array,
  signature: string | undefined,
): Promise<Stripe.Event> {
  const secrets = ctx.env.STRIPE_WEBHOOK_SECRET;
  if (secrets === undefined) {
    throw new Problem(
      "payment_not_configured",
      "Events are not taken here; the operator has to set STRIPE_WEBHOOK_SECRET.",
    );
  }
  const tried = await Promise.all(
    secrets.map((secret) => readSigned(payload, signature ?? "", secret, ctx.now().getTime())),
  );
  const event = tried.find((one) => one !== "unsigned");
  if (event === undefined) {
    throw new Problem(
      "invalid_signature",
      "Stripe-Signature is missing, older than 5 minutes, or not made with this endpoint's secret over this body.",
    );
  }
  if (event === null || !Shape.safeParse(event).success) {
    throw new Problem(
      "malformed_json",
      "The signed body is no snapshot of an event; set the endpoint's payload style at the provider to snapshot, not thin.",
    );
  }
  return event;
}

/** The body that this secret signs, null where that is no JSON; `unsigned` where the signature does not hold. */
async function readSigned(
  payload: Uint8Array,
  signature: string,
  secret: string,
  receivedAt: number,
): Promise<Stripe.Event | null | "unsigned"> {
  const Stripe = await loadStripe();
  const crypto = Stripe.createSubtleCryptoProvider();
  return Stripe.webhooks
    .constructEventAsync(payload, signature, secret, TOLERANCE_S, crypto, receivedAt)
    .catch((error: unknown) => (error instanceof Stripe.errors.StripeSignatureVerificationError ? "unsigned" : null));
}

/**
 * Has every taker of the event's type do its work, and only then notes that it is done: a crash before leaves the event
 * to its next delivery. An event about something that the provider does not know when it is read anew is noted, too: no
 * later delivery would find it. An event of the other mode than our key's (test or live) is not ours: it is ignored and
 * not recorded. Returns whether this call was the first to get it done. Throws what a taker throws.
 */
export async function takeEvent(ctx: Context, takers: readonly EventTaker[], event: Stripe.Event): Promise<boolean> {
  const { STRIPE_SECRET_KEY: key } = ctx.env;
  if (key !== undefined && event.livemode === key.includes("_test_")) {
    ctx.log.warn("provider event of another mode", { event_id: event.id, event_type: event.type });
    return true;
  }
  const isDone = await read(
    ctx,
    z.boolean(),
    sql`select to_jsonb(exists (select from ${provider_events} where id = ${event.id})) as result`,
  );
  if (isDone === true) return false;
  const isConnected = event.account !== undefined;
  for (const { types, takesConnected = false, take } of takers) {
    if (!types.has(event.type) || (isConnected && !takesConnected)) continue;
    try {
      await take(ctx, event);
    } catch (error) {
      if (!isMissing(error)) throw error;
      ctx.log.warn("provider event about something unknown", {
        event_id: event.id,
        event_type: event.type,
        object_id: "id" in event.data.object ? event.data.object.id : undefined,
      });
    }
  }
  const isFirst = await write(ctx, {
    parts: sql`with inserted as (
      insert into ${provider_events} (id, type) values (${event.id}, ${event.type}) on conflict do nothing returning id
    )`,
    select: sql`select to_jsonb(exists (select from inserted)) as result`,
    result: z.boolean(),
  });
  return isFirst === true;
}
