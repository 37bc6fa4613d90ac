import type Stripe from "stripe";
import { shape } from "./objects.ts";
import { newId, type Store } from "./store.ts";

const DAY_S = 86_400;

/** A line of a session: so many of a price. */
export function newLine(price: Stripe.Price, quantity: number): Stripe.LineItem {
  const amount = (price.unit_amount ?? 0) * quantity;
  return shape<Stripe.LineItem>({
    id: newId("li_"),
    object: "item",
    amount_discount: 0,
    amount_subtotal: amount,
    amount_tax: 0,
    amount_total: amount,
    currency: price.currency,
    description: null,
    metadata: {},
    price,
    quantity,
  });
}

/** A checkout session that waits for its customer. */
export function newSession(
  store: Store,
  lines: readonly Stripe.LineItem[],
  fields: Partial<Stripe.Checkout.Session>,
): Stripe.Checkout.Session {
  const id = newId("cs_test_");
  const total = lines.reduce((sum, line) => sum + line.amount_total, 0);
  const now = store.now();
  return store.add(
    shape<Stripe.Checkout.Session>({
      id,
      object: "checkout.session",
      amount_subtotal: total,
      amount_total: total,
      cancel_url: null,
      client_reference_id: null,
      created: now,
      currency: lines[0]?.currency ?? null,
      customer: null,
      customer_details: null,
      customer_email: null,
      expires_at: now + DAY_S,
      invoice: null,
      line_items: { object: "list", data: [...lines], has_more: false, url: `/v1/checkout/sessions/${id}/line_items` },
      livemode: false,
      metadata: {},
      payment_intent: null,
      payment_method_types: ["card"],
      payment_status: "unpaid",
      recovered_from: null,
      setup_intent: null,
      status: "open",
      subscription: null,
      success_url: null,
      ui_mode: "hosted_page",
      url: `https://checkout.stripe.com/c/pay/${id}`,
      ...fields,
    }),
  );
}

/** A payment, with the charge by which it is made: done at once, or under way. */
export function newPayment(
  store: Store,
  fields: Pick<
    Stripe.PaymentIntent,
    "amount" | "currency" | "customer" | "application_fee_amount" | "transfer_data" | "metadata" | "description"
  >,
  done: boolean,
): Stripe.PaymentIntent {
  const id = newId("pi_");
  const charge = newId("ch_");
  const { amount, transfer_data: transfer, ...shared } = fields;
  const made = store.add(
    shape<Stripe.Charge>({
      id: charge,
      object: "charge",
      amount,
      amount_captured: done ? amount : 0,
      amount_refunded: 0,
      application_fee: null,
      captured: true,
      created: store.now(),
      disputed: false,
      failure_code: null,
      failure_message: null,
      livemode: false,
      on_behalf_of: null,
      paid: done,
      payment_intent: id,
      receipt_url: `https://pay.stripe.com/receipts/${charge}`,
      refunded: false,
      refunds: { object: "list", data: [], has_more: false, url: `/v1/charges/${charge}/refunds` },
      status: done ? "succeeded" : "pending",
      transfer_data:
        transfer === undefined || transfer === null ? null : { amount: null, destination: transfer.destination },
      ...shared,
    }),
  );
  if (done) passOn(store, made);
  return store.add(
    shape<Stripe.PaymentIntent>({
      id,
      object: "payment_intent",
      amount,
      amount_capturable: 0,
      amount_received: done ? amount : 0,
      canceled_at: null,
      cancellation_reason: null,
      capture_method: "automatic_async",
      created: store.now(),
      last_payment_error: null,
      latest_charge: charge,
      livemode: false,
      next_action: null,
      on_behalf_of: null,
      payment_method_types: ["card"],
      status: done ? "succeeded" : "processing",
      transfer_data: transfer ?? null,
      ...shared,
    }),
  );
}

/** What a charge for a connected account leads to once it is paid: the transfer to that, and the platform's fee from it. */
export function passOn(store: Store, charge: Stripe.Charge): void {
  const { id, amount, currency, transfer_data: to, application_fee_amount: fee } = charge;
  if (to === null) return;
  const shared = { created: store.now(), currency, livemode: false };
  // What the connected account gets is a payment of its own, which only that account knows.
  const payment = newId("py_");
  const transfer = shape<Stripe.Transfer>({
    id: newId("tr_"),
    object: "transfer",
    amount,
    amount_reversed: 0,
    destination: to.destination,
    destination_payment: payment,
    reversed: false,
    source_transaction: id,
    ...shared,
  });
  charge.transfer = store.add(transfer).id;
  if (fee === null) return;
  const kept = shape<Stripe.ApplicationFee>({
    id: newId("fee_"),
    object: "application_fee",
    account: to.destination,
    amount: fee,
    amount_refunded: 0,
    charge: payment,
    originating_transaction: id,
    refunded: false,
    ...shared,
  });
  charge.application_fee = store.add(kept).id;
}

/** A dispute of `charge`, as its bank decided it. */
export function newDispute(
  store: Store,
  charge: Stripe.Charge,
  fields: Pick<Stripe.Dispute, "amount" | "status">,
): Stripe.Dispute {
  return store.add(
    shape<Stripe.Dispute>({
      id: newId("du_"),
      object: "dispute",
      charge: charge.id,
      created: store.now(),
      currency: charge.currency,
      livemode: false,
      metadata: {},
      payment_intent: charge.payment_intent,
      reason: "fraudulent",
      ...fields,
    }),
  );
}

/** Money of `charge` that went back. */
export function newRefund(store: Store, charge: Stripe.Charge, fields: Partial<Stripe.Refund>): Stripe.Refund {
  return store.add(
    shape<Stripe.Refund>({
      id: newId("re_"),
      object: "refund",
      charge: charge.id,
      created: store.now(),
      currency: charge.currency,
      customer: charge.customer,
      metadata: {},
      payment_intent: charge.payment_intent,
      reason: null,
      status: "succeeded",
      ...fields,
    }),
  );
}
