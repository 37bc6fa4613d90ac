import type Stripe from "stripe";
import * as z from "zod";
import { newAccount, newCustomer } from "./objects.ts";
import { address, creation, flag, metadata, paging, StripeRefusal, text } from "./params.ts";
import { given, list, living, type Route, route } from "./route.ts";
import { newId, type Store } from "./store.ts";
import { cancel, isOver, merged } from "./subscriptions.ts";

const Person = {
  email: text.max(512).or(z.literal("")).optional(),
  name: z.string().max(256).optional(),
  description: z.string().max(5000).optional(),
  phone: z.string().max(20).optional(),
  metadata: metadata.optional(),
};

const customers: readonly Route[] = [
  route("POST customers", Person, ({ store }, _id, params) => {
    const customer = newCustomer(store, given(params));
    store.emit("customer.created", customer);
    return customer;
  }),
  route("GET customers", { ...paging, ...creation, email: text.optional() }, ({ store }, _id, { email, ...page }) => {
    const all = store
      .all("customer")
      .filter((one) => !("deleted" in one) && (email === undefined || one.email === email));
    return list(all, page, "customers");
  }),
  route("GET customers/:id", {}, ({ store }, id) => store.get("customer", id, "id", 404)),
  route("POST customers/:id", Person, ({ store }, id, { metadata: change, ...fields }) => {
    const customer = living(store, id, "id", 404);
    Object.assign(customer, given(fields));
    if (fields.email === "") customer.email = null;
    if (change !== undefined) customer.metadata = merged(customer.metadata, change);
    store.emit("customer.updated", customer);
    return customer;
  }),
  route("DELETE customers/:id", {}, ({ store }, id) => {
    const customer = living(store, id, "id", 404);
    for (const one of store.all("subscription")) if (one.customer === id && !isOver(one)) cancel(store, one);
    store.emit("customer.deleted", customer);
    return store.add({ id, object: "customer", deleted: true } as unknown as Stripe.Customer);
  }),
  route(
    "POST billing_portal/sessions",
    { customer: text, return_url: address.optional() },
    ({ store }, _id, { customer, return_url = null }) => {
      living(store, customer, "customer");
      const id = newId("bps_");
      return {
        id,
        object: "billing_portal.session",
        configuration: "bpc_default",
        created: store.now(),
        customer,
        flow: null,
        livemode: false,
        locale: null,
        on_behalf_of: null,
        return_url,
        url: `https://billing.stripe.com/p/session/test_${id.slice(4)}`,
      };
    },
  ),
];

const Capability = z.strictObject({ requested: flag }).optional();
const LINK_S = 300;

const accounts: readonly Route[] = [
  route(
    "POST accounts",
    {
      type: z.enum(["express", "standard", "custom"]).optional(),
      country: z
        .string()
        .regex(/^[A-Z]{2}$/)
        .optional(),
      email: text.optional(),
      business_type: z.enum(["company", "government_entity", "individual", "non_profit"]).optional(),
      capabilities: z.strictObject({ card_payments: Capability, transfers: Capability }).optional(),
      metadata: metadata.optional(),
    },
    ({ store }, _id, { capabilities = {}, ...fields }) => {
      const asked = Object.entries(capabilities).filter(([, capability]) => capability?.requested === true);
      return newAccount(store, {
        ...given(fields),
        capabilities: Object.fromEntries(asked.map(([name]) => [name, "inactive"])),
      });
    },
  ),
  route("GET accounts", { ...paging, ...creation }, ({ store }, _id, page) =>
    list(store.all("account"), page, "accounts"),
  ),
  route("GET accounts/:id", {}, ({ store }, id) => account(store, id)),
  route(
    "POST account_links",
    {
      account: text,
      type: z.enum(["account_onboarding", "account_update"]),
      refresh_url: address.optional(),
      return_url: address.optional(),
    },
    ({ store }, _id, { account: id, type, refresh_url, return_url }) => {
      account(store, id);
      if (type === "account_onboarding" && (refresh_url === undefined || return_url === undefined))
        throw new StripeRefusal(
          400,
          {
            code: "parameter_missing",
            param: "refresh_url",
            message: "Onboarding needs a refresh_url and a return_url.",
          },
          true,
        );
      const now = store.now();
      return {
        object: "account_link",
        created: now,
        expires_at: now + LINK_S,
        url: `https://connect.stripe.com/setup/e/${id}/${newId("")}`,
      };
    },
  ),
];

// The provider does not tell an account that is not there from one that is another platform's.
function account(store: Store, id: string): Stripe.Account {
  const found = store.find("account", id);
  if (found !== undefined) return found;
  const message = `The provided key does not have access to account '${id}' (or that account does not exist).`;
  throw new StripeRefusal(403, { code: "account_invalid", message }, !store.disconnected.has(id));
}

/** The routes about customers and sellers. */
export const peopleRoutes: readonly Route[] = [...customers, ...accounts];
