import { sql } from "drizzle-orm";
import { boolean, index, integer, jsonb, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { createdAt, instant } from "./columns.ts";

/** Messages that a committed statement owes the queue. `id` is that of the thing they are about, mostly a run. */
export const outbox = pgTable(
  "outbox",
  {
    consumer: text().notNull(),
    id: uuid().notNull(),
    /** Tells a new message about the same thing from a repeated one: the queue drops repeats. */
    generation: integer().notNull().default(0),
    body: jsonb().notNull(),
    flow_key: text(),
    not_before: instant(),
    /** How often the queue refused it while it took others. */
    attempts: integer().notNull().default(0),
    /** When the sweeper may publish it, unless it is gone by then: taken by the queue, or by its consumer. */
    due_at: instant().notNull().default(sql`now() + interval '60 seconds'`),
    created_at: createdAt(),
  },
  (table) => [primaryKey({ columns: [table.consumer, table.id] }), index("outbox_due_idx").on(table.due_at)],
);

/** The first result of each Idempotency-Key, for 24 hours. */
export const idempotency_keys = pgTable(
  "idempotency_keys",
  {
    caller: text().notNull(),
    key: text().notNull(),
    fingerprint: text().notNull(),
    result: jsonb().notNull(),
    created_at: createdAt(),
    expires_at: instant().notNull(),
  },
  (table) => [primaryKey({ columns: [table.caller, table.key] }), index("idempotency_expiry_idx").on(table.expires_at)],
);

/** How each item of the daily work stands. */
export const daily_work = pgTable("daily_work", {
  name: text().primaryKey(),
  /** The message whose turn it is, or none there is any more; any other one about this item is late and does nothing. */
  turn: uuid().notNull(),
  /** Where the turn begins; null at the item's beginning. */
  cursor: text(),
  /** Whether a part of the item has failed since its beginning. */
  is_faulty: boolean().notNull().default(false),
  last_success_at: instant(),
  /** What went wrong last; null once the item has been done without fault. */
  last_error: text(),
});
