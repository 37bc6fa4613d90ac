import { sql } from "drizzle-orm";
import { doublePrecision, index, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { createdAt, id } from "./columns.ts";
import { users } from "./identity.ts";
import { teams } from "./teams.ts";

/** A named weighting over the five axes, normalised to 1; of an account or of one of its workspaces. */
export const scorecards = lazyTable(
  "scorecards",
  () => ({
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
  }),
  (table) => [
    uniqueIndex("scorecards_name_key").on(sql`coalesce(${table.team_id}, ${table.user_id})`, sql`lower(${table.name})`),
    index("scorecards_user_idx").on(table.user_id),
    index("scorecards_team_idx").on(table.team_id).where(sql`${table.team_id} is not null`),
  ],
);
