import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  date,
  doublePrecision,
  type ExtraConfigColumn,
  index,
  integer,
  numeric,
  primaryKey,
  smallint,
  text,
  uuid,
} from "drizzle-orm/pg-core";
import { lazyTable } from "../lazy-table.ts";
import { agents } from "./agents.ts";
import { tasks } from "./catalogue.ts";
import { instant } from "./columns.ts";

/** What a board counts: all runs, or those of the last 30 or 7 days. */
export const PERIODS = ["all", "30d", "7d"] as const;

/** One cell: the last ten runs of an agent at a task within a period, summed up. */
export const task_scores = lazyTable(
  "task_scores",
  () => ({
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
  }),
  (table) => [primaryKey({ columns: [table.agent_id, table.period, table.task_id, table.simulated] })],
);

/** The order of a board, for an index that has its rows in it. */
function boardOrder(
  table: Record<"domain" | "period" | "tier" | "composite_score" | "runs" | "agent_id", ExtraConfigColumn>,
): [ExtraConfigColumn, ...Partial<ExtraConfigColumn>[]] {
  return [
    table.domain,
    table.period,
    table.tier,
    table.composite_score.desc().nullsFirst(),
    table.runs.desc().nullsFirst(),
    table.agent_id,
  ];
}

/** An agent's place on one board: a domain (or `all`) in a period. */
export const board_entries = lazyTable(
  "board_entries",
  () => ({
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
    /** The interval that follows from them, by which rank ranges are counted. */
    score_low: numeric({ precision: 5, scale: 2, mode: "number" }).notNull().default(0),
    score_high: numeric({ precision: 5, scale: 2, mode: "number" }).notNull().default(100),
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
    /** How often the agent was asked the core tasks of the board, and whether some more often; null unless ranked. */
    asked_runs: integer(),
    uneven: boolean().notNull().default(false),
    last_run_at: instant().notNull(),
    /** Copies of the agent's state (public and active; verified; certified), kept by a trigger: the board's indexes need them. */
    listed: boolean().notNull(),
    verified: boolean().notNull(),
    certified: boolean().notNull().default(false),
  }),
  (table) => [
    primaryKey({ columns: [table.agent_id, table.domain, table.period] }),
    index("board_order_idx")
      .on(...boardOrder(table))
      .where(sql`${table.listed}`),
    index("board_verified_idx")
      .on(...boardOrder(table))
      .where(sql`${table.listed} and ${table.verified}`),
    index("board_certified_idx")
      .on(...boardOrder(table))
      .where(sql`${table.listed} and ${table.certified}`),
    // There are hardly any: whoever passes a run is verified.
    index("board_unverified_idx")
      .on(table.domain, table.period, table.composite_score)
      .where(sql`${table.listed} and not ${table.verified} and ${table.tier} = 0`),
  ],
);

/** By how much more often an agent passes canaries than scored runs of the same tasks, summed up over tasks. */
export const memorisation_gaps = lazyTable("memorisation_gaps", () => ({
  agent_id: uuid()
    .primaryKey()
    .references(() => agents.id, { onDelete: "cascade" }),
  gap: doublePrecision().notNull(),
  variance: doublePrecision().notNull(),
  lowest: doublePrecision().notNull(),
  highest: doublePrecision().notNull(),
  tasks: integer().notNull(),
  canary_runs: integer().notNull(),
}));

/** How many rows each board shows; kept by a trigger, so that a page needs no count over a million rows. */
export const board_totals = lazyTable(
  "board_totals",
  () => ({
    domain: text().notNull(),
    period: text().notNull(),
    listed: bigint({ mode: "number" }).notNull(),
    verified: bigint({ mode: "number" }).notNull(),
  }),
  (table) => [primaryKey({ columns: [table.domain, table.period] })],
);

/** The columns of counts by place. */
function places() {
  return {
    domain: text().notNull(),
    period: text().notNull(),
    grain: smallint().notNull(),
    place: smallint().notNull(),
    scores: integer().notNull(),
    lows: integer().notNull(),
    highs: integer().notNull(),
    verified_lows: integer().notNull(),
    verified_highs: integer().notNull(),
  };
}

/**
 * How many ranked entries of a board have their score, and the ends of its interval, at a place: in hundredths of a point
 * (`grain` 1), and in steps of 20 and 400 of them. So all from a place on are counted by some sixty rows, among a million
 * entries too. What changed in the last minute stands in `board_moves`.
 */
export const board_spread = lazyTable("board_spread", places, (table) => [
  primaryKey({ columns: [table.domain, table.period, table.grain, table.place] }),
]);

/** What the recount under way has counted, in the form of the spread; what moves of counted agents is added as it is folded. */
export const board_counts = lazyTable("board_counts", places, (table) => [
  primaryKey({ columns: [table.domain, table.period, table.grain, table.place] }),
]);

/** The recount of the boards that is under way: one row, or none. */
export const board_recounts = lazyTable(
  "board_recounts",
  () => ({
    id: smallint().primaryKey().default(1),
    /** All agents up to this one are counted. */
    counted_to: uuid().notNull(),
  }),
  (table) => [check("board_recounts_single", sql`${table.id} = 1`)],
);

/** Ranked entries that came (1) or went (-1) and are not in `board_spread` yet: appended, so that no two writers meet. */
export const board_moves = lazyTable(
  "board_moves",
  () => ({
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    /** Whose entry it is, for the recount; it may be deleted. */
    agent_id: uuid(),
    domain: text().notNull(),
    period: text().notNull(),
    /** In hundredths of a point. */
    score: smallint().notNull(),
    low: smallint().notNull(),
    high: smallint().notNull(),
    listed: smallint().notNull(),
    verified: smallint().notNull(),
  }),
  (table) => [index("board_moves_board_idx").on(table.domain, table.period)],
);

/** The days whose boards were kept. What is copied of a day changes until it is closed, and never after it is published. */
export const board_days = lazyTable(
  "board_days",
  () => ({
    day: date().primaryKey(),
    closed_at: instant(),
    /** SHA-256, in hex, over the ranked board as RFC 8785 JSON: what the log says of the day. */
    sha256: text(),
    published_at: instant(),
  }),
  (table) => [
    check(
      "board_days_published",
      sql`num_nulls(${table.sha256}, ${table.published_at}) in (0, 2) and (${table.sha256} is null or ${table.closed_at} is not null)`,
    ),
  ],
);

/** An agent's entry on the board of everything as it was on a day. */
export const board_scores = lazyTable(
  "board_scores",
  () => ({
    agent_id: uuid()
      .notNull()
      .references(() => agents.id, { onDelete: "cascade" }),
    day: date()
      .notNull()
      .references(() => board_days.day),
    tier: smallint().notNull(),
    composite_score: numeric({ precision: 5, scale: 2, mode: "number" }).notNull(),
    score_low: numeric({ precision: 5, scale: 2, mode: "number" }).notNull(),
    score_high: numeric({ precision: 5, scale: 2, mode: "number" }).notNull(),
    runs: integer().notNull(),
    tasks: integer().notNull(),
    /** Whether the day's board ranks it; its rank is given once all of the day are there. */
    is_ranked: boolean().notNull(),
    rank: integer(),
  }),
  (table) => [
    primaryKey({ columns: [table.agent_id, table.day] }),
    index("board_scores_unranked_idx")
      .on(table.day, table.composite_score.desc().nullsFirst(), table.runs.desc().nullsFirst(), table.agent_id)
      .where(sql`${table.is_ranked} and ${table.rank} is null`),
  ],
);

/** The ranked board of a day in pieces of its JSON: the rows of each, with commas between. */
export const board_pages = lazyTable(
  "board_pages",
  () => ({
    day: date()
      .notNull()
      .references(() => board_days.day),
    page: integer().notNull(),
    entries: integer().notNull(),
    body: text().notNull(),
  }),
  (table) => [primaryKey({ columns: [table.day, table.page] })],
);
