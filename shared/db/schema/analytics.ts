import { sql } from "drizzle-orm";
import { index, jsonb, text, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { instant } from "./columns.ts";
import { users } from "./identity.ts";

/** Product analytics, kept by the consumer of that name; without any content of users. */
export const analytics_events = lazyTable(
  "analytics_events",
  () => ({
    id: uuid().primaryKey(),
    name: text().notNull(),
    user_id: uuid().references(() => users.id, { onDelete: "set null" }),
    properties: jsonb().notNull().default({}),
    occurred_at: instant().notNull(),
  }),
  (table) => [index("analytics_events_user_idx").on(table.user_id, table.id).where(sql`${table.user_id} is not null`)],
);
