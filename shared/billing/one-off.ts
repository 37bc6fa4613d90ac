import type Stripe from "stripe";
import type { Context } from "../platform/context.ts";
import { isId } from "../platform/ids.ts";
import { isEventOf } from "./provider-event.ts";
import { withProvider } from "./stripe.ts";

/** What is sold once, by a checkout of its own whose metadata names its `kind` and, as `{kind}_id`, its row. */
export type OneOff = "certification" | "purchase";

/** The events that settle a checkout for something sold once. */
export const ONE_OFF_EVENTS = [
  "checkout.session.completed",
  "checkout.session.async_payment_succeeded",
  "checkout.session.async_payment_failed",
  "checkout.session.expired",
] as const satisfies Stripe.Event.Type[];

/** The state of a checkout: `failed` when it can no longer be paid, `open` while that is undecided. */
export interface Settlement {
  id: string;
  session: Stripe.Checkout.Session;
  outcome: "paid" | "failed" | "open";
}

/** The id of the row of this kind named in a checkout's metadata; null for any other kind. */
export function oneOffOf(kind: OneOff, metadata: Stripe.Metadata | null | undefined): string | null {
  const id = metadata?.[`${kind}_id`];
  return metadata?.["kind"] === kind && id !== undefined && isId(id) ? id : null;
}

/** The state of the event's checkout, as the provider has it now; null if it is not of this kind. */
export async function settlementOf(ctx: Context, kind: OneOff, event: Stripe.Event): Promise<Settlement | null> {
  if (!isEventOf(ONE_OFF_EVENTS, event)) return null;
  const { object } = event.data;
  const id = oneOffOf(kind, object.metadata);
  if (id === null) return null;
  const session = await withProvider(ctx, (stripe) => stripe.checkout.sessions.retrieve(object.id));
  const isPaid = session.payment_status !== "unpaid";
  const hasFailed = session.status === "expired" || event.type === "checkout.session.async_payment_failed";
  return { id, session, outcome: isPaid ? "paid" : hasFailed ? "failed" : "open" };
}
