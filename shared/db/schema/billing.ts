import { index, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { createdAt, moment } from "./columns.ts";
import { users } from "./identity.ts";

/** Accounts at the payment provider, with what was last read there of their subscription. */
export const billing_customers = lazyTable(
  "billing_customers",
  () => ({
    user_id: uuid()
      .primaryKey()
      .references(() => users.id, { onDelete: "cascade" }),
    customer_id: text().notNull(),
    subscription_id: text(),
    subscription_status: text(),
    /** The database's time just before the provider was read: what was read earlier never overrides it. */
    read_at: moment(),
    created_at: createdAt(),
  }),
  (table) => [uniqueIndex("billing_customers_customer_key").on(table.customer_id)],
);

/** Events of the payment provider whose work is done, in whole. */
export const provider_events = lazyTable(
  "provider_events",
  () => ({
    id: text().primaryKey(),
    type: text().notNull(),
    done_at: createdAt(),
  }),
  (table) => [index("provider_events_done_idx").on(table.done_at)],
);
