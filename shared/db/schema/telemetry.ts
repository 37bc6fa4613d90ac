import {
  boolean,
  doublePrecision,
  index,
  integer,
  jsonb,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { agents } from "./agents.ts";
import { createdAt, instant } from "./columns.ts";

/** The credential by which an agent sends its telemetry; one an agent. */
export const otlp_tokens = lazyTable(
  "otlp_tokens",
  () => ({
    agent_id: uuid()
      .primaryKey()
      .references(() => agents.id, { onDelete: "cascade" }),
    token_hash: text().notNull(),
    prefix: text().notNull(),
    created_at: createdAt(),
    last_received_at: instant(),
  }),
  (table) => [uniqueIndex("otlp_tokens_hash_key").on(table.token_hash)],
);

/**
 * Spans of runs: only what blueprint, cost and architecture are made of; no message, argument or result is ever kept.
 * The trace id is the run's id.
 */
export const spans = lazyTable(
  "spans",
  () => ({
    run_id: uuid().notNull(),
    /** 16 hexadecimal digits. */
    span_id: text().notNull(),
    parent_span_id: text(),
    agent_id: uuid()
      .notNull()
      .references(() => agents.id, { onDelete: "cascade" }),
    kind: text({ enum: ["model", "tool", "agent", "other"] }).notNull(),
    /** The instrumentation that made it, as a digest of its scope's name; null where it did not say. */
    scope: text(),
    /** `gen_ai.operation.name`, where the span has one. */
    operation: text(),
    /** The tool's, agent's or span's name. */
    name: text().notNull(),
    provider: text(),
    model: text(),
    input_tokens: integer(),
    output_tokens: integer(),
    cost_usd: doublePrecision(),
    failed: boolean().notNull().default(false),
    started_at: instant().notNull(),
    duration_ms: doublePrecision().notNull(),
    received_at: createdAt(),
  }),
  (table) => [
    primaryKey({ columns: [table.run_id, table.span_id] }),
    index("spans_agent_idx").on(table.agent_id, table.run_id),
    index("spans_received_idx").on(table.received_at),
  ],
);

/**
 * What an agent was made of, each distinct state once. `version` counts over all its runs, `public_version` over its
 * public ones alone, so that a number shown to strangers tells nothing about private runs; null until a public run.
 */
export const architecture_versions = lazyTable(
  "architecture_versions",
  () => ({
    agent_id: uuid()
      .notNull()
      .references(() => agents.id, { onDelete: "cascade" }),
    version: integer().notNull(),
    public_version: integer(),
    architecture_hash: text().notNull(),
    models: jsonb().notNull(),
    tools: jsonb().notNull(),
    edges: jsonb().notNull(),
    created_at: createdAt(),
  }),
  (table) => [
    primaryKey({ columns: [table.agent_id, table.version] }),
    unique("architecture_versions_hash_key").on(table.agent_id, table.architecture_hash),
    unique("architecture_versions_public_key").on(table.agent_id, table.public_version),
  ],
);
