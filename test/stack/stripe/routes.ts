import type Stripe from "stripe";
import * as z from "zod";
import { refund } from "./checkout.ts";
import { count, creation, flag, instantOrNone, metadata, noSuch, paging, StripeRefusal, text } from "./params.ts";
import { given, list, living, matching, type Route, route } from "./route.ts";
import { checkoutRoutes } from "./routes-checkout.ts";
import { peopleRoutes } from "./routes-people.ts";
import { idOf, type Store } from "./store.ts";
import { cancel, isOver, update, voidInvoice } from "./subscriptions.ts";

const subscriptions: readonly Route[] = [
  route(
    "GET subscriptions",
    {
      ...paging,
      ...creation,
      customer: text.optional(),
      price: text.optional(),
      status: z
        .enum([
          "active",
          "all",
          "canceled",
          "ended",
          "incomplete",
          "incomplete_expired",
          "past_due",
          "paused",
          "trialing",
          "unpaid",
        ])
        .optional(),
    },
    ({ store }, _id, { customer, price, status, ...page }) => {
      // That it refuses an unknown customer is known; of a deleted one it is not documented, and the service takes both.
      if (customer !== undefined) living(store, customer, "customer");
      const shown = (one: Stripe.Subscription): boolean =>
        status === undefined
          ? one.status !== "canceled"
          : status === "all" || (status === "ended" ? isOver(one) : one.status === status);
      const all = store
        .all("subscription")
        .filter(shown)
        .filter(matching({ customer }))
        .filter(({ items }) => price === undefined || items.data.some((item) => item.price.id === price));
      return list(all, page, "subscriptions");
    },
  ),
  route("GET subscriptions/:id", {}, ({ store }, id) => store.get("subscription", id, "id", 404)),
  route(
    "POST subscriptions/:id",
    {
      items: z
        .array(z.strictObject({ id: text, price: text, quantity: count, deleted: flag }).partial())
        .max(20)
        .optional(),
      payment_behavior: z
        .enum(["allow_incomplete", "default_incomplete", "error_if_incomplete", "pending_if_incomplete"])
        .optional(),
      proration_behavior: z.enum(["always_invoice", "create_prorations", "none"]).optional(),
      metadata: metadata.optional(),
      cancel_at: instantOrNone.optional(),
      cancel_at_period_end: flag.optional(),
      description: text.optional(),
    },
    ({ store, mood }, id, change) => {
      const subscription = store.get("subscription", id, "id", 404);
      update(store, subscription, given(change), mood);
      return subscription;
    },
  ),
  route("DELETE subscriptions/:id", { invoice_now: flag.optional(), prorate: flag.optional() }, ({ store }, id) => {
    const subscription = store.get("subscription", id, "id", 404);
    if (isOver(subscription))
      throw new StripeRefusal(404, { code: "resource_missing", param: "id", message: `No such subscription: ${id}` });
    cancel(store, subscription);
    return subscription;
  }),
];

const payments: readonly Route[] = [
  route("GET prices/:id", {}, ({ store }, id) => store.get("price", id, "price", 404)),
  route("GET payment_intents/:id", {}, ({ store }, id) => store.get("payment_intent", id, "intent", 404)),
  route("GET charges/:id", {}, ({ store }, id) => store.get("charge", id, "id", 404)),
  route(
    "GET charges",
    { ...paging, ...creation, customer: text.optional(), payment_intent: text.optional() },
    ({ store }, _id, { customer, payment_intent, ...page }) =>
      list(store.all("charge").filter(matching({ customer, payment_intent })), page, "charges"),
  ),
  route(
    "POST refunds",
    {
      payment_intent: text.optional(),
      charge: text.optional(),
      amount: count.optional(),
      reason: z.enum(["duplicate", "fraudulent", "requested_by_customer"]).optional(),
      metadata: metadata.optional(),
      reverse_transfer: flag.optional(),
      refund_application_fee: flag.optional(),
    },
    ({ store }, _id, { payment_intent: intentId, charge: chargeId, metadata: data, ...asked }) => {
      if (intentId === undefined && chargeId === undefined)
        throw new StripeRefusal(
          400,
          { code: "parameter_missing", param: "payment_intent", message: "One of payment_intent, charge is needed." },
          true,
        );
      const id = intentId ?? idOf(store.get("charge", chargeId ?? "", "charge").payment_intent);
      return refund(store, store.get("payment_intent", id, "payment_intent"), given({ ...asked, metadata: data }));
    },
  ),
  route("GET disputes", { ...paging, ...creation, charge: text.optional() }, ({ store }, _id, { charge, ...page }) =>
    list(store.all("dispute").filter(matching({ charge })), page, "disputes"),
  ),
  route("GET disputes/:id", {}, ({ store }, id) => store.get("dispute", id, "dispute", 404)),
  route("GET refunds/:id", {}, ({ store }, id) => store.get("refund", id, "id", 404)),
  route(
    "GET refunds",
    { ...paging, ...creation, charge: text.optional(), payment_intent: text.optional() },
    ({ store }, _id, { charge, payment_intent, ...page }) =>
      list(store.all("refund").filter(matching({ charge, payment_intent })), page, "refunds"),
  ),
  route("POST invoices/:id/void", {}, ({ store }, id) => {
    const invoice = store.get("invoice", id, "invoice", 404);
    voidInvoice(store, invoice);
    return invoice;
  }),
  route("GET invoices/:id", {}, ({ store }, id) => store.get("invoice", id, "invoice", 404)),
  route(
    "GET invoices",
    {
      ...paging,
      ...creation,
      customer: text.optional(),
      subscription: text.optional(),
      status: z.enum(["draft", "open", "paid", "uncollectible", "void"]).optional(),
    },
    ({ store }, _id, { customer, subscription, status, ...page }) => {
      const all = store
        .all("invoice")
        .filter(matching({ customer, status }))
        .filter(
          ({ parent }) => subscription === undefined || parent?.subscription_details?.subscription === subscription,
        );
      return list(all, page, "invoices");
    },
  ),
];

const EVENTS_KEPT_S = 30 * 86_400;

// What happens to a connected account is an event of that account, which ours is only sent: the API has it for that account
// alone. https://docs.stripe.com/connect/webhooks, https://github.com/tansengming/stripe-rails/issues/145
function ownEvents(store: Store): Stripe.Event[] {
  return store.all("event").filter(({ account }) => account === undefined);
}

const events: readonly Route[] = [
  route(
    "GET events",
    {
      ...paging,
      ...creation,
      type: text.optional(),
      types: z.array(text).max(20).optional(),
      delivery_success: flag.optional(),
    },
    ({ store }, _id, { type, types, delivery_success: delivered, ...page }) => {
      if (type !== undefined && types !== undefined)
        throw new StripeRefusal(400, { param: "type", message: "You may pass either type or types." }, true);
      const wanted = types ?? (type === undefined ? undefined : [type]);
      const all = ownEvents(store)
        .filter((event) => wanted === undefined || wanted.includes(event.type))
        .filter((event) => delivered === undefined || delivered === (event.pending_webhooks === 0))
        .filter((event) => event.created > store.now() - EVENTS_KEPT_S);
      return list(all, page, "events");
    },
  ),
  route("GET events/:id", {}, ({ store }, id) => {
    const event = ownEvents(store).find((one) => one.id === id);
    if (event === undefined) throw noSuch("event", id, "id", 404);
    return event;
  }),
];

/** All operations that the fake knows. */
export const ROUTES: readonly Route[] = [...peopleRoutes, ...checkoutRoutes, ...subscriptions, ...payments, ...events];
