import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { TaskDomain } from "../catalogue/schemas.ts";
import { agents, board_entries, board_totals, VERIFIED_STATES } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { Instant } from "../platform/time.ts";
import { type ScoreSums, scoreInterval } from "../scoring/interval.ts";
import { Axes } from "./schemas.ts";
import { columnsJson } from "../db/json.ts";

const share = z.number().min(0).max(1);

export const LeaderboardRow = z
  .object({
    rank: z.number().int().nullable().meta({ description: "Null for provisional and simulated agents" }),
    agent_id: z.uuid(),
    name: z.string(),
    verified_state: z.enum(VERIFIED_STATES),
    simulated: z.boolean(),
    score_basis: z.enum(["core", "provisional"]),
    composite_score: z.number(),
    score_low: z.number(),
    score_high: z.number(),
    success_rate: share,
    reliability: share,
    cost_efficiency: share,
    axes: Axes,
    runs: z.number().int(),
    tasks: z.number().int(),
    last_run_at: Instant,
  })
  .meta({ id: "LeaderboardRow" });

/** What a board is narrowed to. */
export const boardQuery = z.object({
  verified_only: z.stringbool().default(false),
  domain: TaskDomain.optional(),
  period: z.enum(["all", "30d", "7d"]).default("all"),
});

type BoardQuery = z.output<typeof boardQuery>;

/** A row of a board as the database keeps it, and the agent that it is about. */
export interface BoardEntry extends Record<"success_rate" | "reliability" | "cost_efficiency", number>, ScoreSums {
  agent_id: string;
  name: string;
  verified_state: (typeof VERIFIED_STATES)[number];
  tier: 0 | 1 | 2;
  correctness: number | null;
  latency: number | null;
  cost: number | null;
  tool_efficiency: number | null;
  robustness: number | null;
  runs: number;
  last_run_at: string;
}

/** The columns of a BoardEntry that are the entry's own. */
export const BOARD_COLUMNS = [
  [
    "agent_id",
    "tier",
    "composite_score",
    "score_variance",
    "score_lowest",
    "score_highest",
    "success_rate",
    "reliability",
    "cost_efficiency",
    "correctness",
  ],
  ["latency", "cost", "tool_efficiency", "robustness", "runs", "tasks", "last_run_at"],
].flat();

/** SQL: the entries that a board shows as `b`, or `columns` of them, in its order; a limit may follow. */
export function boardRows({ domain, period, verified_only: verifiedOnly }: BoardQuery, columns: SQL = sql`b.*`): SQL {
  return sql`select ${columns} from ${board_entries} b
    where b.domain = ${domain ?? "all"} and b.period = ${period} and b.listed ${verifiedOnly ? sql`and b.verified` : sql``}
    order by b.tier, b.composite_score desc, b.runs desc, b.agent_id`;
}

/** SQL: how many entries a board shows, off a counter. */
export function boardTotal({ domain, period, verified_only: verifiedOnly }: BoardQuery): SQL {
  return sql`coalesce((select ${verifiedOnly ? sql`t.verified` : sql`t.listed`} from ${board_totals} t
    where t.domain = ${domain ?? "all"} and t.period = ${period}), 0)`;
}

/**
 * A page of a board: ranked agents by composite, runs and id; then provisional ones, then simulated ones. However deep
 * it is, the page is found in one partial index alone and then read; the total is read off a counter.
 */
export async function readBoard(
  ctx: Context,
  query: BoardQuery & { page: number; page_size: number },
): Promise<{ items: z.input<typeof LeaderboardRow>[]; total: number }> {
  const { page, page_size: size } = query;
  const offset = (page - 1) * size;
  const result = await readJson<{ items: BoardEntry[]; total: number }>(
    ctx,
    sql`with page as (${boardRows(query, sql`b.agent_id`)} limit ${size} offset ${offset}), rows as (
      select b.* from page p join ${board_entries} b on b.agent_id = p.agent_id
      where b.domain = ${query.domain ?? "all"} and b.period = ${query.period}
    )
    select jsonb_build_object(
      'total', ${boardTotal(query)},
      'items', coalesce((select jsonb_agg(${columnsJson("b", BOARD_COLUMNS)}
          || jsonb_build_object('name', a.name, 'verified_state', a.verified_state)
          order by b.tier, b.composite_score desc, b.runs desc, b.agent_id)
        from rows b join ${agents} a on a.id = b.agent_id), '[]')) as result`,
  );
  if (result === null) return { items: [], total: 0 };
  return { total: result.total, items: result.items.map((row, index) => toBoardRow(row, offset + index + 1)) };
}

/** An agent's entries on all boards of all time, by domain, `all` among them; without ranks. Empty without a counted run. */
export async function readEntries(
  ctx: Context,
  agentId: string,
): Promise<(z.input<typeof LeaderboardRow> & { domain: string })[]> {
  const rows = await readJson<(BoardEntry & { domain: string })[]>(
    ctx,
    sql`select jsonb_agg(${columnsJson("b", [...BOARD_COLUMNS, "domain"])}
        || jsonb_build_object('name', a.name, 'verified_state', a.verified_state) order by b.domain) as result
      from ${board_entries} b join ${agents} a on a.id = b.agent_id
      where b.agent_id = ${agentId}::uuid and b.period = 'all' and b.listed`,
  );
  return (rows ?? []).map(({ domain, ...row }) => ({ ...toBoardRow(row, 0), rank: null, domain }));
}

/** LeaderboardRow of an entry at a place (1 is the first) of its board; only ranked ones keep it. */
export function toBoardRow(
  { tier, correctness, latency, cost, tool_efficiency, robustness, ...entry }: BoardEntry,
  place: number,
) {
  const { score_variance, score_lowest, score_highest, ...row } = entry;
  const { low, high } = scoreInterval({ ...row, score_variance, score_lowest, score_highest });
  return {
    ...row,
    rank: tier === 0 ? place : null,
    simulated: tier === 2,
    score_basis: tier === 0 ? ("core" as const) : ("provisional" as const),
    score_low: low,
    score_high: high,
    axes: { correctness, latency, cost, tool_efficiency, robustness },
  };
}
