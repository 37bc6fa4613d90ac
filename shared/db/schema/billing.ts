import { index, integer, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { createdAt, moment } from "./columns.ts";
import { users } from "./identity.ts";

/** Accounts at the payment provider, with what was last read there of their subscription. */
export const billing_customers = pgTable(
  "billing_customers",
  {
    user_id: uuid()
      .primaryKey()
      .references(() => users.id, { onDelete: "cascade" }),
    customer_id: text().notNull(),
    subscription_id: text(),
    subscription_status: text(),
    /** The database's time just before the provider was read: what was read earlier never overrides it. */
    read_at: moment(),
    created_at: createdAt(),
  },
  (table) => [uniqueIndex("billing_customers_customer_key").on(table.customer_id)],
);

/** Events of the payment provider whose work is done, in whole. */
export const provider_events = pgTable(
  "provider_events",
  {
    id: text().primaryKey(),
    type: text().notNull(),
    done_at: createdAt(),
  },
  (table) => [index("provider_events_done_idx").on(table.done_at)],
);

/**
 * What was used of a limit: monthly runs of an account or workspace, daily trials of an address and of all, mails about
 * leads of an address and of all, daily invitations to an email address, by its hash.
 */
export const allowances = pgTable(
  "allowances",
  {
    kind: text({
      enum: [
        "user",
        "team",
        "trial_address",
        "trial_global",
        "lead_source",
        "lead_hour",
        "lead_day",
        "invited_address",
      ],
    }).notNull(),
    owner: text().notNull(),
    period: text().notNull(),
    used: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.owner, table.period] }),
    index("allowances_period_idx").on(table.kind, table.period),
  ],
);
