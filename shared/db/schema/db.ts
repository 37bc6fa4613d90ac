import { sql } from "drizzle-orm";
import { index, integer, jsonb, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { createdAt, instant } from "./columns.ts";

/** Messages that a committed statement owes the queue. `id` is that of the thing they are about, mostly a run. */
export const outbox = lazyTable(
  "outbox",
  () => ({
    consumer: text().notNull(),
    id: uuid().notNull(),
    /** Tells a new message about the same thing from a repeated one: the queue drops repeats. */
    generation: integer().notNull().default(0),
    body: jsonb().notNull(),
    flow_key: text(),
    not_before: instant(),
    /** How often the queue refused it while it took others; -1 where it took it, and the work is not done. */
    attempts: integer().notNull().default(0),
    /** When the sweeper may publish it, unless it is gone by then: taken by the queue, or by its consumer. */
    due_at: instant().notNull().default(sql`now() + interval '60 seconds'`),
    created_at: createdAt(),
  }),
  (table) => [primaryKey({ columns: [table.consumer, table.id] }), index("outbox_due_idx").on(table.due_at)],
);

/** Where work that goes through more rows than one call looks at goes on the next time; null where it begins anew. */
export const cursors = lazyTable("cursors", () => ({ name: text().primaryKey(), cursor: uuid() }));

/** The first result of each Idempotency-Key, for 24 hours. */
export const idempotency_keys = lazyTable(
  "idempotency_keys",
  () => ({
    caller: text().notNull(),
    key: text().notNull(),
    fingerprint: text().notNull(),
    result: jsonb().notNull(),
    created_at: createdAt(),
    expires_at: instant().notNull(),
  }),
  (table) => [primaryKey({ columns: [table.caller, table.key] }), index("idempotency_expiry_idx").on(table.expires_at)],
);
