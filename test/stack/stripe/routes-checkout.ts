import type Stripe from "stripe";
import * as z from "zod";
import { expire, place } from "./checkout.ts";
import { newPrice, newProduct } from "./objects.ts";
import { newLine, newSession } from "./objects-payments.ts";
import { address, count, creation, flag, metadata, paging, StripeRefusal, text } from "./params.ts";
import { given, list, living, matching, type Route, route } from "./route.ts";
import type { Store } from "./store.ts";

const PriceData = z.strictObject({
  currency: z.string().regex(/^[a-z]{3}$/),
  unit_amount: count,
  product: text.optional(),
  product_data: z.strictObject({ name: text, description: text.optional(), metadata: metadata.optional() }).optional(),
  recurring: z
    .strictObject({ interval: z.enum(["day", "week", "month", "year"]), interval_count: count.optional() })
    .optional(),
});

const SessionCreation = {
  mode: z.enum(["payment", "subscription"]),
  line_items: z
    .array(z.strictObject({ price: text.optional(), price_data: PriceData.optional(), quantity: count.optional() }))
    .min(1)
    .max(100),
  success_url: address,
  cancel_url: address.optional(),
  customer: text.optional(),
  customer_email: text.optional(),
  customer_creation: z.enum(["always", "if_required"]).optional(),
  client_reference_id: z.string().max(200).optional(),
  expires_at: count.optional(),
  metadata: metadata.optional(),
  locale: text.optional(),
  submit_type: z.enum(["auto", "pay", "book", "donate", "subscribe"]).optional(),
  allow_promotion_codes: flag.optional(),
  billing_address_collection: z.enum(["auto", "required"]).optional(),
  subscription_data: z.strictObject({ metadata: metadata.optional(), description: text.optional() }).optional(),
  payment_intent_data: z
    .strictObject({
      application_fee_amount: count.optional(),
      transfer_data: z.strictObject({ destination: text }).optional(),
      metadata: metadata.optional(),
      description: text.optional(),
    })
    .optional(),
};

type LineParams = z.output<(typeof SessionCreation)["line_items"]>[number];

function lineOf(
  store: Store,
  { price: id, price_data: data, quantity = 1 }: LineParams,
  index: number,
): Stripe.LineItem {
  const at = `line_items[${index}]`;
  if ((id === undefined) === (data === undefined))
    throw new StripeRefusal(400, { param: at, message: `${at} takes either a price or price_data.` }, true);
  if (id !== undefined) {
    const price = store.get("price", id, `${at}[price]`);
    if (!price.active)
      throw new StripeRefusal(400, { param: `${at}[price]`, message: `The price specified is inactive: ${id}.` });
    return newLine(price, quantity);
  }
  const { currency = "", unit_amount = 0, recurring, product, product_data: fields } = data ?? {};
  if ((product === undefined) === (fields === undefined))
    throw new StripeRefusal(
      400,
      { param: `${at}[price_data]`, message: "price_data takes either a product or product_data." },
      true,
    );
  const known =
    fields === undefined
      ? store.get("product", product ?? "", `${at}[price_data][product]`)
      : newProduct(store, fields);
  return newLine(
    newPrice(store, { currency, unit_amount, interval: recurring?.interval, product: known.id, active: false }),
    quantity,
  );
}

const HALF_HOUR_S = 1800;
const DAY_S = 86_400;

// Money goes only where transfers were enabled.
function checkDestination(store: Store, id: string): void {
  const param = "payment_intent_data[transfer_data][destination]";
  if (store.get("account", id, param).capabilities?.transfers === "active") return;
  throw new StripeRefusal(400, {
    code: "insufficient_capabilities_for_transfer",
    param,
    message: "Your destination account needs to have at least one of the following capabilities enabled: transfers.",
  });
}

/** Checkout: the sessions in which customers pay. */
export const checkoutRoutes: readonly Route[] = [
  route("POST checkout/sessions", SessionCreation, ({ store }, _id, params) => {
    const { line_items: items, subscription_data, payment_intent_data, customer_creation, ...fields } = params;
    const { mode, expires_at: end } = fields;
    const refuse = (param: string, message: string) => new StripeRefusal(400, { param, message }, true);
    if (mode === "subscription" && payment_intent_data !== undefined)
      throw refuse("payment_intent_data", "You can not pass `payment_intent_data` in `subscription` mode.");
    if (mode === "subscription" && customer_creation !== undefined)
      throw refuse("customer_creation", "`customer_creation` can only be used in `payment` and `setup` mode.");
    if (mode === "payment" && subscription_data !== undefined)
      throw refuse("subscription_data", "You can not pass `subscription_data` in `payment` mode.");
    if (fields.customer !== undefined) {
      living(store, fields.customer, "customer");
      if (fields.customer_email !== undefined)
        throw refuse("customer_email", "You may only specify one of these parameters: customer, customer_email.");
    }
    if (end !== undefined && (end < store.now() + HALF_HOUR_S || end > store.now() + DAY_S))
      throw refuse(
        "expires_at",
        "The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation.",
      );
    const lines = items.map((item, index) => lineOf(store, item, index));
    const recurs = lines.some(({ price }) => price?.recurring !== null);
    if (mode === "payment" && recurs)
      throw refuse("line_items", "You specified `payment` mode but passed a recurring price.");
    if (mode === "subscription" && !recurs)
      throw refuse("line_items", "You must provide at least one recurring price in `subscription` mode.");
    const { application_fee_amount: fee = 0, transfer_data: transfer } = payment_intent_data ?? {};
    if (fee > lines.reduce((sum, line) => sum + line.amount_total, 0))
      throw refuse(
        "payment_intent_data[application_fee_amount]",
        "The application fee cannot be greater than the amount.",
      );
    if (transfer !== undefined) checkDestination(store, transfer.destination);
    const session = newSession(store, lines, given(fields) as Partial<Stripe.Checkout.Session>);
    return place(session, { subscription_data, payment_intent_data, customer_creation });
  }),
  route(
    "GET checkout/sessions",
    {
      ...paging,
      ...creation,
      customer: text.optional(),
      payment_intent: text.optional(),
      subscription: text.optional(),
      status: z.enum(["open", "complete", "expired"]).optional(),
    },
    ({ store }, _id, { customer, payment_intent, subscription, status, ...page }) => {
      if (customer !== undefined) living(store, customer, "customer");
      const all = store.all("checkout.session").filter(matching({ customer, payment_intent, subscription, status }));
      return list(all, page, "checkout/sessions");
    },
  ),
  route("GET checkout/sessions/:id", {}, ({ store }, id) => store.get("checkout.session", id, "session", 404)),
  route("GET checkout/sessions/:id/line_items", paging, ({ store }, id, page) => {
    const session = store.get("checkout.session", id, "session", 404);
    return list(session.line_items?.data ?? [], page, `checkout/sessions/${id}/line_items`);
  }),
  route("POST checkout/sessions/:id/expire", {}, ({ store }, id) => {
    const session = store.get("checkout.session", id, "session", 404);
    expire(store, session);
    return session;
  }),
];
