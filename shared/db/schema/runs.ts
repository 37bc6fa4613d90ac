import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  jsonb,
  numeric,
  primaryKey,
  text,
  uuid,
} from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { agents } from "./agents.ts";
import { suites, tasks } from "./catalogue.ts";
import { bytes, createdAt, id, instant } from "./columns.ts";
import { users } from "./identity.ts";
import { facetsOf, isFinishedRun, isPersonal, RUN_STATES, TRIGGERS } from "./run-states.ts";
import { teams } from "./teams.ts";

/** The newest explicit check of an agent's endpoint: evidence of that moment. */
export const readiness_checks = lazyTable("readiness_checks", () => ({
  agent_id: uuid()
    .primaryKey()
    .references(() => agents.id, { onDelete: "cascade" }),
  checked_at: instant().notNull(),
  ok: boolean().notNull(),
  latency_ms: integer(),
  failure_code: text(),
}));

export const screening_sessions = lazyTable(
  "screening_sessions",
  () => ({
    id: id(),
    agent_id: uuid()
      .notNull()
      .references(() => agents.id, { onDelete: "cascade" }),
    user_id: uuid().references(() => users.id, { onDelete: "set null" }),
    team_id: uuid().references(() => teams.id),
    suite_id: uuid().references(() => suites.id),
    trigger: text({ enum: TRIGGERS }).notNull(),
    task_plan: jsonb().notNull(),
    repeats: integer().notNull(),
    is_private: boolean().notNull().default(false),
    /** The epoch whose secret says which of its runs are canaries; null where none can be. */
    epoch: text(),
    created_at: createdAt(),
    cancelled_at: instant(),
    /** Set once, when the last of its runs has become final; `cancelled_at` when it was cancelled while some were queued. */
    finished_at: instant(),
  }),
  (table) => [
    index("screening_sessions_agent_idx").on(
      table.agent_id,
      table.created_at.desc().nullsFirst(),
      table.id.desc().nullsFirst(),
    ),
    index("screening_sessions_public_idx")
      .on(table.agent_id, table.created_at.desc().nullsFirst(), table.id.desc().nullsFirst())
      .where(sql`not ${table.is_private}`),
    index("screening_sessions_public_suite_idx")
      .on(table.agent_id, table.suite_id, table.created_at.desc().nullsFirst(), table.id.desc().nullsFirst())
      .where(sql`not ${table.is_private} and ${table.suite_id} is not null`),
    index("screening_sessions_private_idx")
      .on(table.agent_id, table.user_id, table.created_at.desc().nullsFirst(), table.id.desc().nullsFirst())
      .where(sql`${table.is_private}`),
    index("screening_sessions_suite_idx").on(table.agent_id, table.suite_id, table.created_at, table.id),
    index("screening_sessions_user_idx").on(table.user_id, table.id.desc().nullsFirst()),
    index("screening_sessions_team_idx")
      .on(table.team_id, table.created_at.desc().nullsFirst(), table.id.desc().nullsFirst())
      .where(sql`${table.team_id} is not null`),
    // The last that finished over the same tasks is its first entry.
    index("screening_sessions_same_tasks_idx")
      .on(
        table.agent_id,
        sql`planned_tasks(${table.task_plan})`,
        table.finished_at.desc().nullsFirst(),
        table.id.desc().nullsFirst(),
      )
      .where(sql`${table.finished_at} is not null`),
  ],
);

export const runs = lazyTable(
  "runs",
  () => ({
    id: id(),
    agent_id: uuid()
      .notNull()
      .references(() => agents.id, { onDelete: "cascade" }),
    task_id: uuid()
      .notNull()
      .references(() => tasks.id),
    status: text({ enum: RUN_STATES }).notNull().default("queued"),
    trigger: text({ enum: TRIGGERS }).notNull(),
    /** That of its task, which never changes; a trigger fills it in where an insert leaves it out. */
    domain: text().notNull(),
    simulated: boolean().notNull().default(false),
    is_private: boolean().notNull().default(false),
    screening_session_id: uuid().references(() => screening_sessions.id, { onDelete: "cascade" }),
    position: integer(),
    repeat_index: integer(),
    repeat_total: integer(),
    /** Who asked for the run; null for an anonymous trial. */
    user_id: uuid().references(() => users.id, { onDelete: "set null" }),
    /**
     * The API key by which they asked; null where it was none. It is no reference, so that an account can end its keys
     * without all the runs that they ever asked for being written: what names a key that is gone names none.
     */
    api_key_id: uuid(),
    scope: text({ enum: ["personal", "team"] }).notNull(),
    team_id: uuid().references(() => teams.id),
    /**
     * The allowance that paid, so that a run which fails by our fault can give it back; an address's until its day is over.
     * That of a certification's price is no row of its own: what is used of it is counted over the runs that it pays.
     */
    paid_kind: text(),
    paid_owner: text(),
    paid_period: text(),
    suite_id: uuid(),
    suite_version: integer(),
    /** The epoch that a minted run was first taken up in, and the version of the template that it was asked by last. */
    epoch: text(),
    template_version: integer(),
    /** How its agent was called, as the statement says: its owner may change that before it is signed. */
    agent_protocol: text(),
    connection_mode: text(),
    /** Whether its agent published answers when the run was submitted. */
    publishes_answer: boolean().notNull().default(false),
    attempt: integer().notNull().default(0),
    lease_token: uuid(),
    lease_expires_at: instant(),
    callback_hash: text(),
    deadline_at: instant(),
    awaiting_callback: boolean().notNull().default(false),
    answered_at: instant(),
    passed: boolean(),
    correctness: doublePrecision(),
    explanation: text(),
    latency_ms: integer(),
    axes: jsonb(),
    tool_calls_made: integer(),
    failure_code: text(),
    failure_detail: text(),
    evidence_cost_usd: numeric({ precision: 18, scale: 6, mode: "number" }),
    evidence_cost_source: text().notNull().default("unavailable"),
    evidence_cost_partial: boolean().notNull().default(false),
    evidence_priced_call_count: integer().notNull().default(0),
    evidence_unpriced_call_count: integer().notNull().default(0),
    evidence_total_call_count: integer().notNull().default(0),
    /** A call was reported below its floor, and is taken at that. */
    evidence_cost_floor_applied: boolean().notNull().default(false),
    total_cost_usd: numeric({ precision: 18, scale: 6, mode: "number" }),
    serving_model: text(),
    input_tokens: bigint({ mode: "number" }),
    output_tokens: bigint({ mode: "number" }),
    /** The version of the agent's architecture, as owners count (all runs) and as the public counts (public runs). */
    architecture_version: integer(),
    architecture_public_version: integer(),
    evidence_signed: boolean().notNull().default(false),
    /** Moves public numbers: final, real, signed, neither a trial nor private. */
    counted: boolean().notNull().default(false),
    /**
     * Whether it was asked the sample of its task, to see if that was learned by heart. Null while its session is open: until
     * then nothing may tell, so all that follows from it waits in `held_results`.
     */
    canary: boolean().default(false),
    created_at: createdAt(),
    started_at: instant(),
    finalized_at: instant(),
  }),
  (table) => [
    index("runs_trial_address_idx")
      .on(table.paid_period)
      .where(sql`${table.paid_kind} = 'trial_address' and ${table.paid_owner} is not null`),
    index("runs_agent_idx").on(table.agent_id, table.id.desc().nullsFirst()),
    // With the workspace in the index, those of one that the account has left are left out without being read.
    index("runs_user_idx").on(table.user_id, table.id.desc().nullsFirst(), table.team_id),
    // Personal runs are few among those of who works in a workspace, and of its agents.
    index("runs_agent_personal_idx").on(table.agent_id, table.id.desc().nullsFirst()).where(isPersonal(table.scope)),
    index("runs_user_personal_idx").on(table.user_id, table.id.desc().nullsFirst()).where(isPersonal(table.scope)),
    index("runs_session_idx").on(table.screening_session_id, table.position, table.repeat_index),
    index("runs_agent_public_idx").on(table.agent_id, table.id.desc().nullsFirst()).where(sql`not ${table.is_private}`),
    index("runs_agent_private_idx")
      .on(table.agent_id, table.user_id, table.id.desc().nullsFirst())
      .where(sql`${table.is_private}`),
    index("runs_team_idx").on(table.team_id, table.id.desc().nullsFirst()).where(sql`${table.team_id} is not null`),
    index("runs_single_idx")
      .on(table.team_id, table.id.desc().nullsFirst())
      .where(sql`${table.team_id} is not null and ${table.screening_session_id} is null`),
    index("runs_open_agent_idx").on(table.agent_id).where(sql`${table.status} in ('queued', 'running')`),
    index("runs_open_session_idx")
      .on(table.screening_session_id)
      .where(sql`${table.status} in ('queued', 'running') and ${table.screening_session_id} is not null`),
    index("runs_task_idx").on(table.task_id, table.id.desc().nullsFirst()),
    index("runs_suite_idx")
      .on(table.suite_id, table.id.desc().nullsFirst(), table.agent_id)
      .where(sql`not ${table.is_private} and ${table.suite_id} is not null`),
    index("runs_user_facets_idx").on(table.user_id, ...facetsOf(table)),
    index("runs_agent_facets_idx").on(table.agent_id, ...facetsOf(table)),
    index("runs_team_facets_idx")
      .on(table.team_id, ...facetsOf(table))
      .where(sql`${table.team_id} is not null`),
    index("runs_public_facets_idx")
      .on(...facetsOf(table))
      .where(sql`not ${table.is_private}`),
    // With the agent in the index, runs are counted without being read.
    index("runs_public_idx").on(table.id.desc().nullsFirst(), table.agent_id).where(sql`not ${table.is_private}`),
    index("runs_cell_idx")
      .on(table.agent_id, table.task_id, table.simulated, table.suite_version, table.id.desc().nullsFirst())
      .where(
        sql`${isFinishedRun(table.status)} and not ${table.is_private} and ${table.trigger} <> 'trial'
          and (${table.counted} or ${table.simulated}) and ${table.failure_code} is distinct from 'service_error'`,
      ),
    index("runs_architecture_idx")
      .on(table.agent_id, table.architecture_version)
      .where(sql`${table.architecture_version} is not null`),
    index("runs_held_idx").on(table.screening_session_id).where(sql`${table.canary} is null`),
    index("runs_held_agent_idx").on(table.agent_id, table.task_id).where(sql`${table.canary} is null`),
    index("runs_canary_idx").on(table.agent_id, table.id.desc().nullsFirst()).where(sql`${table.canary}`),
    // Not by the lease, which changes when an answer is kept: an update that touches no index leaves all of them alone. The
    // reaper looks through all that run, which are few.
    index("runs_running_idx").on(table.started_at).where(sql`${table.status} = 'running'`),
  ],
);

/** What went over the wire, with the salts of its commitments; for the owner's eyes. */
export const run_exchanges = lazyTable("run_exchanges", () => ({
  run_id: uuid()
    .primaryKey()
    .references(() => runs.id, { onDelete: "cascade" }),
  request: bytes().notNull(),
  request_salt: bytes().notNull(),
  response: bytes(),
  response_salt: bytes(),
  /** The answer in its protocol-neutral form, as JSON text: jsonb can't hold U+0000, which an agent may send. */
  answer: text(),
}));

export const run_phases = lazyTable(
  "run_phases",
  () => ({
    run_id: uuid()
      .notNull()
      .references(() => runs.id, { onDelete: "cascade" }),
    sequence: integer().notNull(),
    phase: text().notNull(),
    outcome: text().notNull(),
    occurred_at: instant().notNull(),
    duration_ms: integer(),
    metadata: jsonb().notNull().default({}),
  }),
  (table) => [primaryKey({ columns: [table.run_id, table.sequence] })],
);

/** What is not to be known of a run before its session is final; the row goes when it is told. */
export const held_results = lazyTable("held_results", () => ({
  run_id: uuid()
    .primaryKey()
    .references(() => runs.id, { onDelete: "cascade" }),
  is_canary: boolean().notNull(),
  /** The signed statement; a canary has none. */
  jws: text(),
  kid: text(),
}));

export const run_evidence = lazyTable("run_evidence", () => ({
  run_id: uuid()
    .primaryKey()
    .references(() => runs.id, { onDelete: "cascade" }),
  jws: text().notNull(),
  kid: text().notNull(),
  /** Not when its transaction began: that may be before the agent was hidden, while this waited for the agent's lock. */
  created_at: instant().notNull().default(sql`clock_timestamp()`),
}));
