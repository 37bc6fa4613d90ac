import { sql } from "drizzle-orm";
import { type AnyPgColumn, boolean, index, jsonb, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { createdAt, id, instant } from "./columns.ts";
import { users } from "./identity.ts";
import { teams } from "./teams.ts";

/** What is known of an agent: nothing, a completed signed run, a certification in force. */
export const VERIFIED_STATES = ["unverified", "verified", "certified"] as const;

/** Modes under which the service once kept provider credentials. */
export const RETIRED_MODES = ["customer_llm", "provider_assistant"] as const;

/** How an agent is connected. */
export const CONNECTION_MODES = ["http_endpoint", "mock", ...RETIRED_MODES] as const;

/** What an agent's endpoint speaks. */
export const PROTOCOLS = ["native", "openai_chat", "a2a", "a2a_1"] as const;

/** Whether an agent is in the registry, and whether its manifest still says so. */
export const REGISTRY_STATES = ["unregistered", "registered", "stale"] as const;

export const agents = lazyTable(
  "agents",
  () => ({
    id: id(),
    user_id: uuid()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    team_id: uuid().references(() => teams.id),
    name: text().notNull(),
    description: text().notNull().default(""),
    connection_mode: text({ enum: CONNECTION_MODES }).notNull(),
    endpoint: text(),
    agent_protocol: text({ enum: PROTOCOLS }).notNull().default("native"),
    /** The header that its endpoint asks for: `{name, sealed}`, the value encrypted. */
    auth_header: jsonb(),
    provider_url: text(),
    manifest_url: text(),
    customer_llm_provider: text(),
    daemon_last_seen_at: instant(),
    declared_configuration: jsonb(),
    variant_of: uuid().references((): AnyPgColumn => agents.id),
    is_public: boolean().notNull().default(true),
    /** When it last ceased to be public, which a trigger notes; null while it never did. */
    last_public_at: instant(),
    allow_trial: boolean().notNull().default(false),
    publish_answers: boolean().notNull().default(false),
    is_active: boolean().notNull().default(true),
    verified_state: text({ enum: VERIFIED_STATES }).notNull().default("unverified"),
    registry_status: text({ enum: REGISTRY_STATES }).notNull().default("unregistered"),
    /** When the manifest was last asked for by the daily re-check. */
    manifest_checked_at: instant(),
    created_at: createdAt(),
    updated_at: createdAt(),
  }),
  (table) => [
    uniqueIndex("agents_name_key")
      .on(sql`coalesce(${table.team_id}, ${table.user_id})`, sql`lower(${table.name})`)
      .where(sql`${table.is_active}`),
    index("agents_trigram_idx").using("gin", sql`lower(${table.name}) gin_trgm_ops`).with({ fastupdate: false }),
    index("agents_prefix_idx").on(sql`lower(${table.name}) collate "C"`),
    index("agents_owner_idx").on(
      sql`coalesce(${table.team_id}, ${table.user_id})`,
      table.is_active,
      table.created_at.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    // Gone through from one to the next when their account is deleted: no column of it ever changes then.
    index("agents_owner_id_idx").on(sql`coalesce(${table.team_id}, ${table.user_id})`, table.id),
    index("agents_owner_name_idx").on(
      sql`coalesce(${table.team_id}, ${table.user_id})`,
      table.is_active,
      sql`lower(${table.name}) collate "C"`,
      table.id,
    ),
    index("agents_public_name_idx")
      .on(sql`lower(${table.name}) collate "C"`, table.id)
      .where(sql`${table.is_public} and ${table.is_active}`),
    // An endpoint may be longer than an index takes.
    index("agents_endpoint_idx")
      .on(
        sql`coalesce(${table.team_id}, ${table.user_id})`,
        sql`md5(${table.endpoint})`,
        table.is_active,
        table.created_at.desc().nullsFirst(),
        table.id.desc().nullsFirst(),
      )
      .where(sql`${table.endpoint} is not null`),
    index("agents_user_idx").on(table.user_id, table.created_at.desc().nullsFirst()),
    index("agents_team_idx").on(table.team_id).where(sql`${table.team_id} is not null`),
    index("agents_public_idx")
      .on(table.created_at.desc().nullsFirst(), table.id.desc().nullsFirst())
      .where(sql`${table.is_public} and ${table.is_active}`),
    index("agents_listed_idx").on(table.id).where(sql`${table.is_public} and ${table.is_active}`),
    index("agents_manifest_idx")
      .on(table.manifest_checked_at.asc().nullsFirst())
      .where(sql`${table.is_active} and ${table.registry_status} <> 'unregistered'`),
    index("agents_variant_idx").on(table.variant_of).where(sql`${table.variant_of} is not null`),
    index("agents_public_variant_idx")
      .on(table.variant_of)
      .where(sql`${table.variant_of} is not null and ${table.is_public}`),
  ],
);
