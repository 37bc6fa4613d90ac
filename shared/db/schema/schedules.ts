import { sql } from "drizzle-orm";
import { boolean, index, integer, jsonb, text, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { agents } from "./agents.ts";
import { suites } from "./catalogue.ts";
import { createdAt, idOfCreation, instant } from "./columns.ts";
import { users } from "./identity.ts";

export const screening_schedules = lazyTable(
  "screening_schedules",
  () => ({
    id: idOfCreation(),
    user_id: uuid()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    agent_id: uuid()
      .notNull()
      .references(() => agents.id, { onDelete: "cascade" }),
    suite_id: uuid().references(() => suites.id),
    task_ids: jsonb(),
    repeats: integer().notNull(),
    cron: text().notNull(),
    timezone: text().notNull(),
    is_active: boolean().notNull().default(true),
    /** Null while it is paused. */
    next_run_at: instant(),
    last_run_at: instant(),
    last_screening_session_id: uuid(),
    last_error: text(),
    created_at: createdAt(),
    updated_at: createdAt(),
  }),
  (table) => [
    index("screening_schedules_due_idx").on(table.next_run_at).where(sql`${table.is_active}`),
    index("screening_schedules_user_idx").on(table.user_id),
    index("screening_schedules_agent_idx").on(table.agent_id),
  ],
);
