import { sql } from "drizzle-orm";
import { index, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { createdAt, id, instant } from "./columns.ts";
import { users } from "./identity.ts";

/** The roles that a member of a workspace can be given; each may do what those before it may. */
const GRANTED_ROLES = ["viewer", "member", "runner", "editor", "admin"] as const;

/** The roles in a workspace, each of which may do what those before it may. It has one owner. */
export const TEAM_ROLES = [...GRANTED_ROLES, "owner"] as const;

export const teams = lazyTable(
  "teams",
  () => ({
    id: id(),
    name: text().notNull(),
    owner_id: uuid()
      .notNull()
      .references(() => users.id),
    created_at: createdAt(),
  }),
  (table) => [index("teams_owner_idx").on(table.owner_id)],
);

export const team_members = lazyTable(
  "team_members",
  () => ({
    team_id: uuid()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    user_id: uuid()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    role: text({ enum: TEAM_ROLES }).notNull(),
    joined_at: createdAt(),
  }),
  (table) => [
    primaryKey({ columns: [table.team_id, table.user_id] }),
    index("team_members_user_idx").on(table.user_id),
  ],
);

/** Invitations to a workspace, by email. One that is neither accepted nor revoked nor expired holds a seat. */
export const team_invitations = lazyTable(
  "team_invitations",
  () => ({
    id: id(),
    team_id: uuid()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    email: text().notNull(),
    role: text({ enum: GRANTED_ROLES }).notNull(),
    token_hash: text().notNull(),
    invited_by: uuid().references(() => users.id, { onDelete: "set null" }),
    created_at: createdAt(),
    expires_at: instant().notNull(),
    accepted_at: instant(),
    revoked_at: instant(),
  }),
  (table) => [
    uniqueIndex("team_invitations_token_key").on(table.token_hash),
    index("team_invitations_team_idx").on(
      table.team_id,
      table.created_at.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index("team_invitations_email_idx").on(table.email),
    index("team_invitations_inviter_idx").on(table.invited_by).where(sql`${table.invited_by} is not null`),
    uniqueIndex("team_invitations_open_key")
      .on(table.team_id, table.email)
      .where(sql`${table.accepted_at} is null and ${table.revoked_at} is null`),
  ],
);
