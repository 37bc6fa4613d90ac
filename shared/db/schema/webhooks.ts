import { sql } from "drizzle-orm";
import { boolean, index, integer, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { agents } from "./agents.ts";
import { createdAt, id, idOfCreation, instant } from "./columns.ts";
import { users } from "./identity.ts";
import { teams } from "./teams.ts";

/** Subscriptions to events: of one agent, or of all agents of their owner (an account or a workspace). */
export const webhooks = lazyTable(
  "webhooks",
  () => ({
    id: idOfCreation(),
    user_id: uuid()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    team_id: uuid().references(() => teams.id, { onDelete: "cascade" }),
    agent_id: uuid().references(() => agents.id, { onDelete: "cascade" }),
    url: text().notNull(),
    event_types: text().array().notNull(),
    /** Encrypted; null where deliveries go out unsigned. */
    secret: text(),
    description: text(),
    is_active: boolean().notNull().default(true),
    disabled_reason: text(),
    /** Since when no attempt has succeeded, and how many have failed since. */
    failing_since: instant(),
    failures: integer().notNull().default(0),
    created_at: createdAt(),
    updated_at: createdAt(),
  }),
  (table) => [
    index("webhooks_owner_idx").on(
      sql`coalesce(${table.team_id}, ${table.user_id})`,
      table.created_at.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index("webhooks_user_idx").on(table.user_id),
    index("webhooks_team_idx").on(table.team_id).where(sql`${table.team_id} is not null`),
    index("webhooks_agent_idx").on(table.agent_id).where(sql`${table.agent_id} is not null`),
  ],
);

/** What happened, as it is told: the same bytes at every attempt. */
export const webhook_events = lazyTable(
  "webhook_events",
  () => ({
    id: id(),
    type: text().notNull(),
    agent_id: uuid().references(() => agents.id, { onDelete: "cascade" }),
    body: text().notNull(),
    created_at: createdAt(),
  }),
  (table) => [index("webhook_events_agent_idx").on(table.agent_id).where(sql`${table.agent_id} is not null`)],
);

/** The states of an attempt to deliver an event. */
export const DELIVERY_STATES = ["pending", "succeeded", "failed", "exhausted"] as const;

/**
 * Each attempt to deliver an event to a subscription; the id is the delivery id that receivers see. Those of a subscription
 * that is deleted go later, in pieces: there may be hundreds of thousands.
 */
export const webhook_deliveries = lazyTable(
  "webhook_deliveries",
  () => ({
    id: id(),
    webhook_id: uuid().notNull(),
    event_id: uuid()
      .notNull()
      .references(() => webhook_events.id, { onDelete: "cascade" }),
    attempt: integer().notNull(),
    status: text({ enum: DELIVERY_STATES }).notNull().default("pending"),
    response_status: integer(),
    duration_ms: integer(),
    response_excerpt: text(),
    lease_token: uuid(),
    lease_expires_at: instant(),
    created_at: createdAt(),
    attempted_at: instant(),
    next_attempt_at: instant(),
  }),
  (table) => [
    uniqueIndex("webhook_deliveries_attempt_key").on(table.webhook_id, table.event_id, table.attempt),
    index("webhook_deliveries_log_idx").on(table.webhook_id, table.id.desc().nullsFirst()),
    index("webhook_deliveries_status_idx").on(table.webhook_id, table.status, table.id.desc().nullsFirst()),
    index("webhook_deliveries_event_idx").on(table.event_id),
    index("webhook_deliveries_pending_idx")
      .on(table.webhook_id, table.next_attempt_at, table.id)
      .where(sql`${table.status} = 'pending'`),
    index("webhook_deliveries_due_idx").on(table.next_attempt_at).where(sql`${table.status} = 'pending'`),
  ],
);

/** Subscriptions that were deleted, however that came, and whose attempts may still be there; a trigger notes them. */
export const removed_webhooks = lazyTable(
  "removed_webhooks",
  () => ({
    id: uuid().primaryKey(),
    removed_at: instant().notNull().defaultNow(),
  }),
  (table) => [index("removed_webhooks_removed_idx").on(table.removed_at)],
);
