import { sql } from "drizzle-orm";
import { boolean, index, integer, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { createdAt, id, instant } from "./columns.ts";

/** The plans, from the least. */
export const PLAN_NAMES = ["free", "pro", "team", "enterprise"] as const;

export const users = lazyTable(
  "users",
  () => ({
    id: id(),
    email: text().notNull(),
    username: text(),
    password_hash: text(),
    email_verified: boolean().notNull().default(false),
    plan: text({ enum: PLAN_NAMES }).notNull().default("free"),
    charges_enabled: boolean().notNull().default(false),
    payouts_enabled: boolean().notNull().default(false),
    /** The kinds of notifications that were switched off. */
    muted_notices: text().array().notNull().default(sql`'{}'`),
    deletion_scheduled_for: instant(),
    created_at: createdAt(),
    updated_at: createdAt(),
  }),
  (table) => [
    uniqueIndex("users_email_key").on(table.email),
    index("users_deletion_idx")
      .on(table.deletion_scheduled_for)
      .where(sql`${table.deletion_scheduled_for} is not null`),
    uniqueIndex("users_username_key").on(sql`lower(${table.username})`),
  ],
);

/** One signed-in device: the chain that every refresh credential given to it belongs to. */
export const sessions = lazyTable(
  "sessions",
  () => ({
    id: id(),
    user_id: uuid()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    user_agent: text(),
    created_at: createdAt(),
    last_used_at: createdAt(),
    expires_at: instant().notNull(),
    revoked_at: instant(),
  }),
  (table) => [
    index("sessions_user_idx").on(table.user_id),
    index("sessions_revoked_idx").on(table.revoked_at).where(sql`${table.revoked_at} is not null`),
    index("sessions_over_idx").on(sql`least(${table.revoked_at}, ${table.expires_at})`),
  ],
);

/** The networks and browsers that an account signed in from, as keyed hashes: another of both is told to the account. */
export const sign_in_marks = lazyTable(
  "sign_in_marks",
  () => ({
    user_id: uuid()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    kind: text({ enum: ["network", "browser"] }).notNull(),
    mark: text().notNull(),
    last_seen_at: createdAt(),
  }),
  (table) => [
    primaryKey({ columns: [table.user_id, table.kind, table.mark] }),
    index("sign_in_marks_seen_idx").on(table.last_seen_at),
  ],
);

/** Refresh credentials, hashed. A replaced one that comes back tells that it was stolen: it is kept for as long as it would live. */
export const refresh_tokens = lazyTable(
  "refresh_tokens",
  () => ({
    token_hash: text().primaryKey(),
    session_id: uuid()
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    created_at: createdAt(),
    replaced_at: instant(),
  }),
  (table) => [
    index("refresh_tokens_session_idx").on(table.session_id),
    index("refresh_tokens_replaced_idx").on(table.replaced_at).where(sql`${table.replaced_at} is not null`),
  ],
);

/** Single-use tokens that were mailed, hashed. */
export const email_tokens = lazyTable(
  "email_tokens",
  () => ({
    token_hash: text().primaryKey(),
    user_id: uuid()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    purpose: text({ enum: ["verify_email", "reset_password", "confirm_deletion", "confirm_email"] }).notNull(),
    /** The address it was mailed to: a token does not vouch for another one. */
    email: text().notNull(),
    expires_at: instant().notNull(),
    used_at: instant(),
    created_at: createdAt(),
  }),
  (table) => [
    index("email_tokens_user_idx").on(table.user_id, table.purpose),
    index("email_tokens_expiry_idx").on(table.expires_at),
  ],
);

/** Programs that ask for an API key of whoever types their code on the page, with both codes hashed. */
export const device_authorizations = lazyTable(
  "device_authorizations",
  () => ({
    device_hash: text().primaryKey(),
    user_code_hash: text().notNull(),
    client_name: text().notNull(),
    user_agent: text(),
    /** The network that it asks from, as a keyed hash. */
    network: text().notNull(),
    /** The seconds that have to lie between two polls. */
    interval_seconds: integer().notNull(),
    polled_at: instant(),
    /** Whoever decided, and the session by which: a permission ends with it. */
    user_id: uuid().references(() => users.id, { onDelete: "cascade" }),
    session_id: uuid().references(() => sessions.id, { onDelete: "cascade" }),
    /** Null until somebody decides. */
    allowed: boolean(),
    /** When its key was made: it is made once. */
    redeemed_at: instant(),
    expires_at: instant().notNull(),
    created_at: createdAt(),
  }),
  (table) => [
    uniqueIndex("device_authorizations_code_key").on(table.user_code_hash),
    index("device_authorizations_user_idx").on(table.user_id),
    index("device_authorizations_session_idx").on(table.session_id),
    index("device_authorizations_expiry_idx").on(table.expires_at),
  ],
);

/** Accounts at a code host that sign in to ours. */
export const identities = lazyTable(
  "identities",
  () => ({
    provider: text({ enum: ["github", "dev"] }).notNull(),
    provider_user_id: text().notNull(),
    user_id: uuid()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    created_at: createdAt(),
  }),
  (table) => [
    primaryKey({ columns: [table.provider, table.provider_user_id] }),
    index("identities_user_idx").on(table.user_id),
  ],
);

/** The authenticator app of an account, its second factor, and what gets the account in without it. */
export const totp_factors = lazyTable("totp_factors", () => ({
  user_id: uuid()
    .primaryKey()
    .references(() => users.id, { onDelete: "cascade" }),
  /** What the app makes its codes of, encrypted. */
  secret: text().notNull(),
  /** Null until a code of the app was given: only then is it asked for at sign-in. */
  confirmed_at: instant(),
  /** The step of time whose code was taken last: neither it nor one before is taken again. */
  last_step: integer(),
  /** Hashes of the recovery codes that are left. */
  recovery_hashes: text().array().notNull().default(sql`'{}'`),
  created_at: createdAt(),
}));
