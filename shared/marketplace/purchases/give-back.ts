import { sql } from "drizzle-orm";
import type Stripe from "stripe";
import * as z from "zod";
import { PAYBACK_EVENTS, paidBack } from "../../billing/disputes.ts";
import { oneOffOf } from "../../billing/one-off.ts";
import { isEventOf } from "../../billing/provider-event.ts";
import { idOf, withProvider } from "../../billing/stripe.ts";
import { tellOfNothing } from "../../billing/tell-of-nothing.ts";
import { read, write } from "../../db/change.ts";
import { purchases, revenue } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { completePurchase } from "./settle.ts";

/** The events by which money of a payment goes back, or comes again: the buyer's, the seller's and the platform's. */
export const GIVE_BACK_EVENTS = [
  ...PAYBACK_EVENTS,
  "transfer.reversed",
  "application_fee.refunded",
] as const satisfies Stripe.Event.Type[];

type GiveBackEvent = Extract<Stripe.Event, { type: (typeof GIVE_BACK_EVENTS)[number] }>;

/** Whether an event is one of those. */
export const isGiveBack = (event: Stripe.Event): event is GiveBackEvent => isEventOf(GIVE_BACK_EVENTS, event);

/** The payment of ours that an event is about. */
function chargeOf({ data: { object } }: GiveBackEvent): string | null {
  switch (object.object) {
    case "charge":
      return object.id;
    case "transfer":
      return idOf(object.source_transaction);
    case "application_fee":
      // Its `charge` is what the connected account got, which only that account knows.
      return idOf(object.originating_transaction);
    default:
      return idOf(object.charge);
  }
}

/**
 * Keeps with a sale what went back of its payment, as the provider has it now: to the buyer by refunds and lost disputes,
 * from the seller's transfer, and of the platform's fee. Each may go back without the others. The purchase stays completed
 * and the hired agent the buyer's; one whose payment was not heard of yet is completed first. Ignores other payments.
 */
export async function followGiveBack(ctx: Context, event: GiveBackEvent): Promise<void> {
  const chargeId = chargeOf(event);
  if (chargeId === null) return;
  const at = await read(ctx, z.string(), sql`select to_jsonb(now()) as result`);
  const found = await withProvider(ctx, async (stripe) => {
    const { transfer_data: transfer, payment_intent } = await stripe.charges.retrieve(chargeId);
    const intent = idOf(payment_intent);
    // Only what is sold for a seller goes on to somebody.
    if (transfer === null || intent === null) return null;
    const { data } = await stripe.checkout.sessions.list({ payment_intent: intent, limit: 1 });
    const [session] = data;
    const id = oneOffOf("purchase", session?.metadata);
    if (session === undefined || id === null) return null;
    const charge = await stripe.charges.retrieve(chargeId, { expand: ["transfer", "application_fee"] });
    return { id, session, charge, refunded: await paidBack(stripe, charge) };
  });
  if (found === null) return;
  const { id, session, charge, refunded } = found;
  const isGiven = session.payment_status === "unpaid" || (await completePurchase(ctx, id, session.id));
  if (!isGiven && refunded < charge.amount)
    tellOfNothing(ctx, "purchase", id, { payment_intent_id: idOf(charge.payment_intent) });
  const { transfer, application_fee: fee } = charge;
  const reversed = typeof transfer === "object" ? transfer.amount_reversed : 0;
  const feeBack = typeof fee === "object" ? (fee?.amount_refunded ?? 0) : 0;
  const usd = (cents: number) => sql`${cents}::numeric / 100`;
  await write(ctx, {
    parts: sql`with updated as (
      update ${revenue} v set refunded_usd = least(v.gross_usd, ${usd(refunded)}), fee_usd = p.fee_usd - ${usd(feeBack)},
        net_usd = p.price_usd - p.fee_usd - ${usd(reversed)} + ${usd(feeBack)}, read_at = ${at}::timestamptz
      from ${purchases} p where p.id = v.purchase_id and v.purchase_id = ${id}::uuid
        and (v.read_at is null or v.read_at <= ${at}::timestamptz)
      returning v.purchase_id
    )`,
    select: sql`select to_jsonb(purchase_id) as result from updated`,
    result: z.uuid(),
  });
}
