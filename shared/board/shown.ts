import * as z from "zod";
import { Memorisation } from "../agents/memorisation.ts";
import { SCORE_BASES } from "../agents/score-bases.ts";
import { TaskDomain } from "../catalogue/domains.ts";
import { PERIODS, VERIFIED_STATES } from "../db/schema/index.ts";
import { Instant } from "../platform/time.ts";
import { Axes } from "./axes.ts";

/** How far variants are counted, so that no group of thousands makes the board slow for everybody. */
export const MOST_VARIANTS = 100;

const share = z.number().min(0).max(1);

export const LeaderboardRow = z
  .object({
    rank: z.int().nullable().meta({ description: "Null for provisional and simulated agents" }),
    rank_low: z.int().nullable().meta({
      description: "The first place that the interval does not rule out: behind all that lie wholly above it",
    }),
    rank_high: z
      .int()
      .nullable()
      .meta({ description: "The last such place: before all whose intervals lie wholly below it" }),
    agent_id: z.uuid(),
    name: z.string(),
    verified_state: z.enum(VERIFIED_STATES),
    simulated: z.boolean(),
    score_basis: z.enum(SCORE_BASES),
    composite_score: z.number(),
    score_low: z.number(),
    score_high: z.number(),
    success_rate: share,
    reliability: share,
    cost_efficiency: share.meta({ description: "Costs are reported by the agents themselves" }),
    evidence_cost_floor_applied: z.boolean().meta({
      description: "At least one of these runs has a cost that was reported below its floor, and is taken at that",
    }),
    ...Memorisation.shape,
    axes: Axes,
    runs: z.int(),
    tasks: z.int(),
    asked_runs: z
      .int()
      .nullable()
      .meta({
        description:
          "How many runs of these tasks the agent was asked in public at their current version, canaries among them, and those that " +
          "were cancelled, or failed by our fault, once a later one of their task had been asked: `runs` of them are scored. Null unless it is ranked",
      }),
    uneven: z.boolean().meta({
      description:
        "Some of these tasks were asked more often than others: whoever asks again only what went badly keeps good luck alone. " +
        "It goes once all were asked as often. What a session with canaries has asked counts for that once all of it has ended",
    }),
    variants: z
      .int()
      .max(MOST_VARIANTS)
      .meta({
        description: `How many public variants the root of the agent's group has, or the agent itself where it is the root; removed ones count, and from ${MOST_VARIANTS} on it is ${MOST_VARIANTS}`,
      }),
    last_run_at: Instant,
  })
  .meta({ id: "LeaderboardRow" });

/** What a board is narrowed to, besides a name. */
export const boardQuery = z.object({
  verified_only: z.stringbool().default(false),
  domain: TaskDomain.optional(),
  period: z.enum(PERIODS).default("all"),
});

export type BoardQuery = z.output<typeof boardQuery>;

/** The same for the board itself, which can be narrowed to certified agents, too. */
export const wholeBoardQuery = boardQuery.extend({ certified_only: z.stringbool().default(false) });

export type WholeBoardQuery = z.output<typeof wholeBoardQuery>;
