import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  numeric,
  pgTable,
  primaryKey,
  smallint,
  text,
  uuid,
} from "drizzle-orm/pg-core";
import { agents } from "./agents.ts";
import { tasks } from "./catalogue.ts";
import { instant } from "./columns.ts";

const PERIODS = ["all", "30d", "7d"] as const;

/** One cell: the last ten runs of an agent at a task within a period, summed up. */
export const task_scores = pgTable(
  "task_scores",
  {
    agent_id: uuid()
      .notNull()
      .references(() => agents.id, { onDelete: "cascade" }),
    task_id: uuid()
      .notNull()
      .references(() => tasks.id, { onDelete: "cascade" }),
    period: text({ enum: PERIODS }).notNull(),
    simulated: boolean().notNull(),
    n: integer().notNull(),
    c: integer().notNull(),
    success: doublePrecision().notNull(),
    reliability: doublePrecision().notNull(),
    cost_efficiency: doublePrecision().notNull(),
    correctness: doublePrecision().notNull(),
    latency: doublePrecision(),
    cost: doublePrecision(),
    tool_efficiency: doublePrecision(),
    robustness: doublePrecision().notNull(),
    /** One of these runs has a cost that was reported below its floor. */
    cost_floor_applied: boolean().notNull().default(false),
    last_run_at: instant().notNull(),
  },
  (table) => [primaryKey({ columns: [table.agent_id, table.period, table.task_id, table.simulated] })],
);

/** An agent's place on one board: a domain (or `all`) in a period. */
export const board_entries = pgTable(
  "board_entries",
  {
    agent_id: uuid()
      .notNull()
      .references(() => agents.id, { onDelete: "cascade" }),
    domain: text().notNull(),
    period: text({ enum: PERIODS }).notNull(),
    /** 0 ranked on the core tasks, 1 provisional, 2 simulated only: the first key of the order. */
    tier: smallint().notNull(),
    composite_score: numeric({ precision: 5, scale: 2, mode: "number" }).notNull(),
    /** Of the per-task scores, 0 to 1, of which the composite is the mean: what its interval is made of. */
    score_variance: doublePrecision().notNull(),
    score_lowest: doublePrecision().notNull().default(0),
    score_highest: doublePrecision().notNull().default(1),
    success_rate: doublePrecision().notNull(),
    reliability: doublePrecision().notNull(),
    cost_efficiency: doublePrecision().notNull(),
    correctness: doublePrecision().notNull(),
    latency: doublePrecision(),
    cost: doublePrecision(),
    tool_efficiency: doublePrecision(),
    robustness: doublePrecision().notNull(),
    cost_floor_applied: boolean().notNull().default(false),
    runs: integer().notNull(),
    tasks: integer().notNull(),
    last_run_at: instant().notNull(),
    /** Copies of the agent's state (public and active; verified), kept by a trigger: the board's index needs them. */
    listed: boolean().notNull(),
    verified: boolean().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.agent_id, table.domain, table.period] }),
    index("board_order_idx")
      .on(
        table.domain,
        table.period,
        table.tier,
        table.composite_score.desc().nullsFirst(),
        table.runs.desc().nullsFirst(),
        table.agent_id,
      )
      .where(sql`${table.listed}`),
    index("board_verified_idx")
      .on(
        table.domain,
        table.period,
        table.tier,
        table.composite_score.desc().nullsFirst(),
        table.runs.desc().nullsFirst(),
        table.agent_id,
      )
      .where(sql`${table.listed} and ${table.verified}`),
  ],
);

/** How many rows each board shows; kept by a trigger, so that a page needs no count over a million rows. */
export const board_totals = pgTable(
  "board_totals",
  {
    domain: text().notNull(),
    period: text().notNull(),
    listed: bigint({ mode: "number" }).notNull(),
    verified: bigint({ mode: "number" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.domain, table.period] })],
);
