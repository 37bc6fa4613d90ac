import { sql } from "drizzle-orm";
import { boolean, index, jsonb, numeric, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { agents } from "./agents.ts";
import { createdAt, idOfCreation, instant, moment } from "./columns.ts";
import { users } from "./identity.ts";

const usd = () => numeric({ precision: 12, scale: 2, mode: "number" }).notNull();

/** Connected accounts of sellers at the payment provider; what they may do stands on the user. */
export const seller_accounts = lazyTable(
  "seller_accounts",
  () => ({
    user_id: uuid()
      .primaryKey()
      .references(() => users.id, { onDelete: "cascade" }),
    account_id: text().notNull(),
    /** The database's time just before the provider was read: what was read earlier never overrides it. */
    read_at: moment(),
    /** When its user turned out to be another one than who opened it: from then on it is nobody's, and another is made. */
    disowned_at: instant(),
    created_at: createdAt(),
  }),
  (table) => [uniqueIndex("seller_accounts_account_key").on(table.account_id)],
);

/** Agents for hire. */
export const listings = lazyTable(
  "listings",
  () => ({
    id: idOfCreation(),
    agent_id: uuid()
      .notNull()
      .references(() => agents.id, { onDelete: "cascade" }),
    seller_id: uuid()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    title: text().notNull(),
    description: text().notNull().default(""),
    price_usd: usd(),
    is_active: boolean().notNull().default(true),
    created_at: createdAt(),
  }),
  (table) => [
    index("listings_active_idx").on(table.id.desc().nullsFirst()).where(sql`${table.is_active}`),
    uniqueIndex("listings_agent_key").on(table.agent_id).where(sql`${table.is_active}`),
    index("listings_trigram_idx")
      .using("gin", sql`lower(${table.title}) gin_trgm_ops`)
      .with({ fastupdate: false })
      .where(sql`${table.is_active}`),
    index("listings_prefix_idx").on(sql`lower(${table.title}) collate "C"`).where(sql`${table.is_active}`),
    index("listings_seller_idx").on(table.seller_id),
  ],
);

/** The states of a purchase; the last two are final. */
export const PURCHASE_STATES = ["AWAITING_PAYMENT", "COMPLETED", "FAILED"] as const;

/** Purchases of listings. They outlive the listing, its agent and both accounts: what is hired was said when it was bought. */
export const purchases = lazyTable(
  "purchases",
  () => ({
    id: idOfCreation(),
    listing_id: uuid().notNull(),
    /** The agent that was listed. */
    agent_id: uuid().references(() => agents.id, { onDelete: "set null" }),
    seller_id: uuid().references(() => users.id, { onDelete: "set null" }),
    buyer_id: uuid().references(() => users.id, { onDelete: "set null" }),
    agent_name: text().notNull(),
    declared_configuration: jsonb(),
    status: text({ enum: PURCHASE_STATES }).notNull().default("AWAITING_PAYMENT"),
    price_usd: usd(),
    /** The platform's share. */
    fee_usd: usd(),
    checkout_session_id: text(),
    checkout_url: text(),
    hired_agent_id: uuid().references(() => agents.id, { onDelete: "set null" }),
    created_at: createdAt(),
    completed_at: instant(),
  }),
  (table) => [
    uniqueIndex("purchases_checkout_key").on(table.checkout_session_id),
    uniqueIndex("purchases_hired_key").on(table.hired_agent_id),
    uniqueIndex("purchases_open_key")
      .on(table.listing_id, table.buyer_id)
      .where(sql`${table.status} = 'AWAITING_PAYMENT'`),
    index("purchases_buyer_idx").on(table.buyer_id, table.id.desc().nullsFirst()),
    index("purchases_seller_idx").on(table.seller_id, table.id),
    index("purchases_agent_idx").on(table.agent_id),
  ],
);

/** Realised revenue: one row for each completed purchase, less what went back of it afterwards. */
export const revenue = lazyTable(
  "revenue",
  () => ({
    purchase_id: uuid()
      .primaryKey()
      .references(() => purchases.id),
    seller_id: uuid().references(() => users.id, { onDelete: "set null" }),
    /** What was paid. */
    gross_usd: usd(),
    /** What its buyer has got back. */
    refunded_usd: usd().default(0),
    /** What the platform keeps. */
    fee_usd: usd(),
    /** What is left for the seller; under 0 where more was taken back than the seller got. */
    net_usd: usd(),
    /** The database's time just before the provider was read for what went back: what was read earlier never overrides it. */
    read_at: moment(),
    realised_at: createdAt(),
  }),
  (table) => [
    index("revenue_seller_idx").on(table.seller_id, table.purchase_id),
    index("revenue_newest_idx").on(
      table.seller_id,
      table.realised_at.desc().nullsFirst(),
      table.purchase_id.desc().nullsFirst(),
    ),
  ],
);
