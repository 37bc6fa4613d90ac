import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/conditions.ts";
import { GapSums, gapSums, toMemorisation } from "../agents/memorisation.ts";
import { read } from "../db/change.ts";
import { columnsJson } from "../db/json.ts";
import { pageResult, type RowPage } from "../db/page-result.ts";
import { agents, board_entries, board_totals } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { scoreInterval } from "../scoring/interval.ts";
import { type BoardQuery, LeaderboardRow, MOST_VARIANTS } from "./shown.ts";

/**
 * A board entry with the name of its agent, as the database gives it. Only what a row is computed from is parsed here: the
 * rest is shown unchanged, and `LeaderboardRow` parses it.
 */
export const BoardEntry = z.looseObject({
  tier: z.literal([0, 1, 2]),
  composite_score: z.number(),
  score_variance: z.number(),
  score_lowest: z.number(),
  score_highest: z.number(),
  tasks: z.number(),
  sums: GapSums,
});

export type BoardEntry = z.output<typeof BoardEntry>;

/** The columns of a BoardEntry that the entry itself has. */
const BOARD_COLUMNS = [
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
  [
    "latency",
    "cost",
    "tool_efficiency",
    "robustness",
    "cost_floor_applied",
    "runs",
    "tasks",
    "asked_runs",
    "uneven",
    "last_run_at",
  ],
].flat();

/**
 * SQL: what a BoardEntry shows of the agent row `a` itself. Its variants are those of its owner that are public, or were
 * when they were removed: a hired copy is none, and what is private must not show here.
 */
const BOARD_AGENT: Readonly<Record<string, SQL>> = {
  name: sql`a.name`,
  verified_state: sql`a.verified_state`,
  sums: gapSums,
  variants: sql`(select count(*) from (select from ${agents} v where v.variant_of = coalesce(a.variant_of, a.id) and v.is_public
    and coalesce(v.team_id, v.user_id) = coalesce(a.team_id, a.user_id) limit ${MOST_VARIANTS}) x)`,
};

/** SQL: the JSON of a BoardEntry, the entry `b` of the agent row `a`, with further columns of `b`. */
export function entryJson(...further: readonly string[]): SQL {
  return columnsJson("b", [...BOARD_COLUMNS, ...further], BOARD_AGENT);
}

/** SQL: the order of a board's entries `b`, from its first place, and from its last. */
const ORDER = {
  fromFirst: sql`b.tier, b.composite_score desc, b.runs desc, b.agent_id`,
  fromLast: sql`b.tier desc, b.composite_score, b.runs, b.agent_id desc`,
};

/** SQL: whether a board shows its entry `b`. */
export function onBoard({ domain, period, verified_only: verifiedOnly }: BoardQuery): SQL {
  const board = sql`b.domain = ${domain ?? "all"} and b.period = ${period} and b.listed`;
  return verifiedOnly ? sql`${board} and b.verified` : board;
}

/** SQL: the entries that a board shows as `b`, or `columns` of them, in its order; a limit may follow. */
export function boardRows(query: BoardQuery, columns: SQL = sql`b.*`, order: SQL = ORDER.fromFirst): SQL {
  return sql`select ${columns} from ${board_entries} b where ${onBoard(query)} order by ${order}`;
}

/**
 * SQL: a FROM item of `rank_low` and `rank_high` of the entry `b` of a board; both are null where it is not ranked. What has
 * moved on the board is a query of its own, which depends on no row: so it is summed up once for all of them.
 */
export function rankRange({ domain, period, verified_only: verifiedOnly }: BoardQuery): SQL {
  const board = sql`${domain ?? "all"}, ${period}, ${verifiedOnly}::boolean`;
  return sql`board_range(${board}, case when b.tier = 0 then b.score_low end, b.score_high, (select board_shift(${board})))`;
}

/** SQL: how many entries a board shows, read from a counter. */
export function boardTotal({ domain, period, verified_only: verifiedOnly }: BoardQuery): SQL {
  return sql`coalesce((select ${verifiedOnly ? sql`t.verified` : sql`t.listed`} from ${board_totals} t
    where t.domain = ${domain ?? "all"} and t.period = ${period}), 0)`;
}

/**
 * A page of a board: ranked agents by composite, runs and id; then provisional ones, then simulated ones. `LeaderboardRow`
 * is yet to parse its items. A page is found in one partial index, from the nearer end, and only then read; the total
 * comes from a counter, which changes along with the entries.
 */
export async function readBoard(
  ctx: Context,
  query: BoardQuery & { page: number; page_size: number },
): Promise<RowPage> {
  const { page, page_size: size } = query;
  const before = (page - 1) * size;
  // Where it is compared with a total it would be taken for a whole number of 32 bits.
  const offset = sql`${before}::bigint`;
  const result = await read(
    ctx,
    pageResult(BoardEntry),
    sql`with board as (
      select total, ${offset} * 2 <= total as from_first from (select ${boardTotal(query)} as total) t
    ), page as (
      select agent_id from (
      (${boardRows(query, sql`b.agent_id`)}
        limit (select case when from_first then ${size} else 0 end from board) offset ${offset})
      union all
      (${boardRows(query, sql`b.agent_id`, ORDER.fromLast)}
        limit (select case when from_first then 0 else greatest(least(${size}, total - ${offset}), 0) end from board)
        offset (select greatest(total - ${offset} - ${size}, 0) from board))
      ) x limit ${size}
    ), rows as (
      select b.*, r.rank_low, r.rank_high from page p join ${board_entries} b on b.agent_id = p.agent_id
        cross join lateral ${rankRange(query)} r
      where b.domain = ${query.domain ?? "all"} and b.period = ${query.period}
    )
    select json_build_object(
      'total', (select total from board),
      'items', coalesce((select json_agg(${entryJson("rank_low", "rank_high")} order by ${ORDER.fromFirst})
        from rows b join ${agents} a on a.id = b.agent_id), '[]')) as result`,
  );
  if (result === null) return { items: [], total: 0 };
  return { total: result.total, items: result.items.map((row, index) => toBoardRow(row, before + index + 1)) };
}

/** An agent's place on the board of one domain, or of `all`; it has no rank. */
const AgentEntry = LeaderboardRow.omit({ rank: true, rank_low: true, rank_high: true }).extend({ domain: z.string() });

export type AgentEntry = z.output<typeof AgentEntry>;

/**
 * The entries that an agent has, or would have if it were public, on all boards of all time, by domain. Empty without a
 * counted run, and for an agent that the caller may not see.
 */
export async function readEntries(ctx: Context, principal: Principal, agentId: string): Promise<AgentEntry[]> {
  const rows = await read(
    ctx,
    z.array(BoardEntry),
    sql`select json_agg(${entryJson("domain")} order by b.domain) as result
      from ${board_entries} b join ${agents} a on a.id = b.agent_id
      where b.agent_id = ${agentId}::uuid and b.period = 'all' and ${visibleAgent(viewerId(principal))}`,
  );
  return (rows ?? []).map((row) => AgentEntry.parse(toBoardRow(row, 0)));
}

/** What `LeaderboardRow` parses, of an entry at a place of its board (1 is the first); only ranked entries are given it. */
export function toBoardRow(
  {
    tier,
    correctness,
    latency,
    cost,
    tool_efficiency,
    robustness,
    cost_floor_applied: floored,
    sums,
    ...entry
  }: BoardEntry,
  place: number,
) {
  const { low, high } = scoreInterval(entry);
  return {
    ...entry,
    rank: tier === 0 ? place : null,
    simulated: tier === 2,
    score_basis: tier === 0 ? "core" : "provisional",
    score_low: low,
    score_high: high,
    evidence_cost_floor_applied: floored,
    ...toMemorisation(sums),
    axes: { correctness, latency, cost, tool_efficiency, robustness },
  };
}
