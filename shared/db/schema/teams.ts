import { sql } from "drizzle-orm";
import { boolean, doublePrecision, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { agents } from "./agents.ts";
import { suites } from "./catalogue.ts";
import { createdAt, id, instant } from "./columns.ts";
import { teams, users } from "./identity.ts";

/** Invitations to a workspace, by email. One that is neither accepted nor revoked nor expired holds a seat. */
export const team_invitations = pgTable(
  "team_invitations",
  {
    id: id(),
    team_id: uuid()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    email: text().notNull(),
    role: text({ enum: ["admin", "editor", "runner", "member", "viewer"] }).notNull(),
    token_hash: text().notNull(),
    invited_by: uuid().references(() => users.id, { onDelete: "set null" }),
    created_at: createdAt(),
    expires_at: instant().notNull(),
    accepted_at: instant(),
    revoked_at: instant(),
  },
  (table) => [
    uniqueIndex("team_invitations_token_key").on(table.token_hash),
    uniqueIndex("team_invitations_open_key")
      .on(table.team_id, table.email)
      .where(sql`${table.accepted_at} is null and ${table.revoked_at} is null`),
  ],
);

/** A named weighting over the five axes, normalised to 1; of an account or of one of its workspaces. */
export const scorecards = pgTable(
  "scorecards",
  {
    id: id(),
    user_id: uuid()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    team_id: uuid().references(() => teams.id, { onDelete: "cascade" }),
    name: text().notNull(),
    correctness: doublePrecision().notNull(),
    latency: doublePrecision().notNull(),
    cost: doublePrecision().notNull(),
    tool_efficiency: doublePrecision().notNull(),
    robustness: doublePrecision().notNull(),
    created_at: createdAt(),
  },
  (table) => [
    uniqueIndex("scorecards_name_key").on(sql`coalesce(${table.team_id}, ${table.user_id})`, sql`lower(${table.name})`),
    index("scorecards_user_idx").on(table.user_id),
  ],
);

export const screening_schedules = pgTable(
  "screening_schedules",
  {
    id: id(),
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
  },
  (table) => [
    index("screening_schedules_due_idx").on(table.next_run_at).where(sql`${table.is_active}`),
    index("screening_schedules_user_idx").on(table.user_id),
    index("screening_schedules_agent_idx").on(table.agent_id),
  ],
);
