import { integer, text, uniqueIndex } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { createdAt, id } from "./columns.ts";

/** People who want to hear of a plan. */
export const waitlist_entries = lazyTable(
  "waitlist_entries",
  () => ({
    id: id(),
    list: text({ enum: ["pro", "enterprise"] }).notNull(),
    email: text().notNull(),
    company: text(),
    seats: integer(),
    message: text(),
    created_at: createdAt(),
  }),
  (table) => [uniqueIndex("waitlist_entries_email_key").on(table.list, table.email)],
);
