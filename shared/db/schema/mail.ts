import { index, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { createdAt } from "./columns.ts";
import { users } from "./identity.ts";

/** What accounts were told that they are told once. */
export const notices = lazyTable(
  "notices",
  () => ({
    user_id: uuid()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    notice: text().notNull(),
    /** What it was about, such as a session, or an allowance, its month and its limit. */
    about: text().notNull(),
    created_at: createdAt(),
  }),
  (table) => [
    primaryKey({ columns: [table.user_id, table.notice, table.about] }),
    index("notices_created_idx").on(table.created_at),
  ],
);
