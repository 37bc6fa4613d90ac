import { sql } from "drizzle-orm";
import { check, index, integer, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { createdAt, id, instant } from "./columns.ts";
import { users } from "./identity.ts";
import { teams } from "./teams.ts";

/** What an API key may be allowed, by the things that it is about. */
export const KEY_SCOPES = [
  "agents:read",
  "agents:write",
  "runs:read",
  "runs:write",
  "webhooks:read",
  "webhooks:write",
  "schedules:read",
  "schedules:write",
  "scorecards:read",
  "scorecards:write",
  "teams:read",
  "teams:write",
] as const;

export const api_keys = lazyTable(
  "api_keys",
  () => ({
    id: id(),
    /** The account that it acts for; null for a workspace's key. */
    user_id: uuid().references(() => users.id, { onDelete: "cascade" }),
    /** The workspace that it acts for; null for an account's key. */
    team_id: uuid().references(() => teams.id, { onDelete: "cascade" }),
    name: text().notNull(),
    prefix: text().notNull(),
    key_hash: text().notNull(),
    scope: text({ enum: ["read", "write"] }).notNull(),
    /** Null where the key was made with a scope alone. */
    scopes: text({ enum: KEY_SCOPES }).array(),
    rate_limit_per_minute: integer().notNull().default(60),
    quota_per_day: integer().notNull().default(10_000),
    last_used_at: instant(),
    expires_at: instant(),
    revoked_at: instant(),
    created_at: createdAt(),
  }),
  (table) => [
    uniqueIndex("api_keys_hash_key").on(table.key_hash),
    uniqueIndex("api_keys_name_key")
      .on(table.user_id, sql`lower(${table.name})`)
      .where(sql`${table.revoked_at} is null`),
    uniqueIndex("api_keys_team_name_key")
      .on(table.team_id, sql`lower(${table.name})`)
      .where(sql`${table.revoked_at} is null`),
    index("api_keys_user_idx").on(table.user_id),
    index("api_keys_team_idx").on(table.team_id),
    check("api_keys_holder", sql`num_nonnulls(${table.user_id}, ${table.team_id}) = 1`),
  ],
);
