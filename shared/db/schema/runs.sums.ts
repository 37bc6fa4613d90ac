import { sql } from "drizzle-orm";
import { bigint, boolean, date, index, integer, numeric, primaryKey, unique, uuid } from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { agents } from "./agents.ts";
import { tasks } from "./catalogue.ts";
import { instant } from "./columns.ts";

/**
 * An agent's final runs at a task, summed up by a trigger as they become final; those that failed by our fault are left
 * out. What the record of an agent shows is made of these, so that no read goes through all runs.
 */
export const run_tallies = lazyTable(
  "run_tallies",
  () => ({
    agent_id: uuid()
      .notNull()
      .references(() => agents.id, { onDelete: "cascade" }),
    task_id: uuid()
      .notNull()
      .references(() => tasks.id),
    is_private: boolean().notNull(),
    /** Simulated runs are summed up by themselves: they say nothing of an agent that has real ones. */
    simulated: boolean().notNull().default(false),
    runs: bigint({ mode: "number" }).notNull(),
    /** Completed or failed; others were cancelled. */
    ended: bigint({ mode: "number" }).notNull(),
    /** Of those that ended, how many have been judged, and how many of them passed. */
    judged: bigint({ mode: "number" }).notNull(),
    passed: bigint({ mode: "number" }).notNull(),
    latency_ms: bigint({ mode: "number" }).notNull(),
    latencies: bigint({ mode: "number" }).notNull(),
    cost_usd: numeric({ precision: 24, scale: 6, mode: "number" }).notNull(),
    costs: bigint({ mode: "number" }).notNull(),
    /**
     * How many of its real runs, no trials, were asked of the agent at a version of the task's suite, the latest there was:
     * canaries are; cancelled ones, and those that failed by our fault, only where a later one of the task overtook them.
     */
    asked: bigint({ mode: "number" }).notNull().default(0),
    version: integer(),
  }),
  (table) => [primaryKey({ columns: [table.agent_id, table.task_id, table.is_private, table.simulated] })],
);

/**
 * The runs of an agent that an account asked for on a day (by UTC), by the key that it used and at whose expense: at a
 * workspace's, or without one at its own. Kept by triggers, so that neither what a workspace does, nor what an account used,
 * nor how many runs an agent has is counted over runs.
 */
export const run_days = lazyTable(
  "run_days",
  () => ({
    agent_id: uuid()
      .notNull()
      .references(() => agents.id, { onDelete: "cascade" }),
    day: date().notNull(),
    /** A row is there only as long as the runs that it counts, and with them their workspace. */
    team_id: uuid(),
    /** Null where that account is deleted, and for anonymous trials. */
    user_id: uuid(),
    api_key_id: uuid(),
    runs: bigint({ mode: "number" }).notNull(),
    passed: bigint({ mode: "number" }).notNull().default(0),
    /** What is known of their cost, and of how many it is. */
    cost_usd: numeric({ precision: 24, scale: 6, mode: "number" }).notNull().default(0),
    costs: bigint({ mode: "number" }).notNull().default(0),
    last_run_at: instant().notNull(),
  }),
  (table) => [
    unique("run_days_key")
      .on(table.agent_id, table.day, table.team_id, table.user_id, table.api_key_id)
      .nullsNotDistinct(),
    index("run_days_team_idx").on(table.team_id, table.day).where(sql`${table.team_id} is not null`),
    index("run_days_user_idx").on(table.user_id, table.day).where(sql`${table.team_id} is null`),
  ],
);
