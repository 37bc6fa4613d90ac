import type Stripe from "stripe";
import { newId, type Store } from "./store.ts";

/** An object of the provider with the fields that matter here, and null where the real one has it unset. */
export function shape<T>(fields: Partial<T>): T {
  return fields as T;
}

/** Text by name that the caller attaches to an object. */
export type Metadata = Record<string, string>;

/** What a price is made of: `interval` for one that recurs. */
export interface PriceFields {
  id?: string;
  active?: boolean;
  currency: string;
  unit_amount: number;
  interval?: string | undefined;
  product: string;
}

/** A price of one product. */
export function newPrice(
  store: Store,
  { interval, id = newId("price_"), active = true, ...fields }: PriceFields,
): Stripe.Price {
  return store.add(
    shape<Stripe.Price>({
      id,
      object: "price",
      active,
      billing_scheme: "per_unit",
      created: store.now(),
      livemode: false,
      lookup_key: null,
      metadata: {},
      nickname: null,
      recurring:
        interval === undefined
          ? null
          : { interval: interval, interval_count: 1, meter: null, trial_period_days: null, usage_type: "licensed" },
      type: interval === undefined ? "one_time" : "recurring",
      ...fields,
    }),
  );
}

/** A product that prices are for. */
export function newProduct(
  store: Store,
  fields: { name: string; description?: string | undefined; metadata?: Metadata | undefined },
): Stripe.Product {
  return store.add(
    shape<Stripe.Product>({
      id: newId("prod_"),
      object: "product",
      active: true,
      created: store.now(),
      description: fields.description ?? null,
      livemode: false,
      metadata: fields.metadata ?? {},
      name: fields.name,
    }),
  );
}

/** A customer without subscriptions. */
export function newCustomer(store: Store, fields: Partial<Stripe.Customer>): Stripe.Customer {
  return store.add(
    shape<Stripe.Customer>({
      id: newId("cus_"),
      object: "customer",
      balance: 0,
      created: store.now(),
      currency: null,
      default_source: null,
      delinquent: false,
      description: null,
      email: null,
      livemode: false,
      metadata: {},
      name: null,
      phone: null,
      shipping: null,
      ...fields,
    }),
  );
}

/** A connected account that has still to be onboarded. */
export function newAccount(store: Store, fields: Partial<Stripe.Account>): Stripe.Account {
  return store.add(
    shape<Stripe.Account>({
      id: newId("acct_"),
      object: "account",
      capabilities: { card_payments: "inactive", transfers: "inactive" },
      charges_enabled: false,
      country: "US",
      created: store.now(),
      default_currency: "usd",
      details_submitted: false,
      email: null,
      metadata: {},
      payouts_enabled: false,
      ...fields,
    }),
  );
}
