import { sql } from "drizzle-orm";
import { bigint, boolean, doublePrecision, index, integer, jsonb, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { createdAt, id, idOfCreation, instant } from "./columns.ts";
import { users } from "./identity.ts";

/** The forms in which a task may ask for its answer. */
export const OUTPUT_FORMATS = ["text", "json", "tool_calls"] as const;

export const suites = lazyTable("suites", () => ({
  id: id(),
  slug: text().notNull().unique("suites_slug_key"),
  name: text().notNull(),
  description: text().notNull().default(""),
  version: integer().notNull().default(1),
  is_secret: boolean().notNull().default(false),
  created_at: createdAt(),
}));

export const tasks = lazyTable(
  "tasks",
  () => ({
    id: id(),
    /** Names a shipped task across seedings; null for tasks made by people. */
    slug: text(),
    suite_id: uuid().references(() => suites.id),
    suite_version: integer().notNull().default(1),
    position: integer().notNull().default(0),
    title: text().notNull(),
    domain: text().notNull(),
    prompt: text().notNull(),
    input: jsonb(),
    output_format: text({ enum: OUTPUT_FORMATS }).notNull(),
    output_schema: jsonb(),
    tools: jsonb(),
    grader: jsonb().notNull(),
    expected_output: jsonb(),
    pass_threshold: doublePrecision().notNull().default(1),
    time_limit_ms: integer().notNull().default(60_000),
    reference_cost_usd: doublePrecision().notNull(),
    reference_latency_ms: integer().notNull(),
    expected_tool_calls: integer(),
    is_active: boolean().notNull().default(true),
    is_secret: boolean().notNull().default(false),
    created_at: createdAt(),
    retired_at: instant(),
    /** Hashes of the runs of words in the prompt of an active public task, one for each; null for any other. */
    shingles: integer()
      .array()
      .generatedAlwaysAs(sql`case when is_active and not is_secret then shingle_hashes(prompt) end`),
  }),
  (table) => [
    // Without a list of what is pending, which each look-up would go through.
    index("tasks_shingles_idx")
      .using("gin", table.shingles)
      .with({ fastupdate: false })
      .where(sql`${table.shingles} is not null`),
    uniqueIndex("tasks_slug_key").on(table.slug).where(sql`${table.is_active}`),
    index("tasks_suite_idx").on(table.suite_id, table.position),
    index("tasks_active_idx").on(table.domain, table.created_at).where(sql`${table.is_active}`),
  ],
);

/** What the log last said of each suite. */
export const suite_records = lazyTable("suite_records", () => ({
  suite_id: uuid()
    .primaryKey()
    .references(() => suites.id),
  suite_version: integer().notNull(),
  /** Of how tasks were shown when that was logged. */
  fingerprint: text().notNull(),
  /** SHA-256, in hex, over the public form of its active tasks as RFC 8785 JSON. */
  sha256: text().notNull(),
  recorded_at: instant().notNull(),
}));

/**
 * A change of each suite's version or tasks that nobody has looked at for the log; triggers note them. Rows are added and
 * taken away, none is changed: so what changes tasks waits for nothing but the tasks.
 */
export const suite_changes = lazyTable("suite_changes", () => ({
  id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
  suite_id: uuid()
    .notNull()
    .references(() => suites.id, { onDelete: "cascade" }),
}));

/** The suites that are being looked at for the log, and how far each was read. */
export const suite_readings = lazyTable("suite_readings", () => ({
  suite_id: uuid()
    .primaryKey()
    .references(() => suites.id, { onDelete: "cascade" }),
  /** Names this reading, in the order in which they were begun; a change of the suite begins another one. */
  reading: uuid().notNull().default(sql`uuidv7()`),
  /** Of how its tasks are shown. */
  fingerprint: text().notNull(),
  /** The last task that was read, and the hash of all up to it; null before the first. */
  after: uuid(),
  hash: text(),
}));

/** Secrets that the service has made for itself, encrypted; `minting` is the one that secret tasks are drawn by. */
export const service_secrets = lazyTable("service_secrets", () => ({
  name: text().primaryKey(),
  sealed: text().notNull(),
  created_at: createdAt(),
}));

/** The states of a proposed task. */
export const SUBMISSION_STATES = ["pending", "approved", "rejected", "withdrawn"] as const;

/** Tasks that people propose. What is proposed stands in `task`, as it was sent; nothing of it runs before approval. */
export const task_submissions = lazyTable(
  "task_submissions",
  () => ({
    id: idOfCreation(),
    submitter_id: uuid()
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    status: text({ enum: SUBMISSION_STATES }).notNull().default("pending"),
    task: jsonb().notNull(),
    rationale: text(),
    /** Names of the rules that flagged it. */
    flags: text().array().notNull().default(sql`'{}'`),
    rejection_reason: text(),
    task_id: uuid().references(() => tasks.id),
    reviewer_id: uuid().references(() => users.id, { onDelete: "set null" }),
    created_at: createdAt(),
    reviewed_at: instant(),
  }),
  (table) => [
    index("task_submissions_queue_idx").on(
      table.status,
      sql`(cardinality(${table.flags}) > 0) desc`,
      table.id.desc().nullsFirst(),
    ),
    index("task_submissions_mine_idx").on(table.submitter_id, table.id.desc().nullsFirst()),
  ],
);
