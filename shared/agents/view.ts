import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { board_entries, otlp_tokens, run_days, team_members } from "../db/schema/index.ts";
import { scoreInterval } from "../scoring/interval.ts";
import { may } from "../teams/rights.ts";
import { agentOwner, hasEndpoint, retiredMode } from "./conditions.ts";
import { GapSums, gapSums, toMemorisation } from "./memorisation.ts";
import { AgentRead } from "./shown.ts";

/** How many days, today's among them, the activity of a workspace tells of. */
const ACTIVITY_DAYS = 30;

/** SQL: how a workspace uses the agent row `a`: by the runs that it paid for, as the days of each account sum them up. */
const workspaceActivity: SQL = sql`case when a.team_id is not null then (
  select jsonb_build_object('runs_30d', coalesce(sum(d.runs), 0), 'active_members_30d', count(distinct m.user_id),
    'last_run_at', (select l.last_run_at from ${run_days} l where l.agent_id = a.id and l.team_id = a.team_id
      order by l.day desc, l.last_run_at desc limit 1))
  from ${run_days} d left join ${team_members} m on m.team_id = d.team_id and m.user_id = d.user_id
  where d.agent_id = a.id and d.team_id = a.team_id and d.day > (now() at time zone 'UTC')::date - ${ACTIVITY_DAYS}::integer
) end`;

/**
 * SQL: a value of the board entry `b` where the board ranks it, the agent `a`; what follows from null is null. An agent
 * that this very statement hides is hidden already, its entry not yet.
 */
function whereRanked(value: SQL): SQL {
  return sql`case when b.tier = 0 and b.listed and a.is_public and a.is_active then ${value} end`;
}

/**
 * SQL: a FROM item with what has moved on the board of everything as `shift`. It depends on no row, and stays a query of its
 * own (`offset 0`): so a statement has it summed up once, however many agents and numbers want it.
 */
const MOVED: SQL = sql`(select (select board_shift('all', 'all', false)) as shift offset 0) m`;

/**
 * SQL: the JSON of the agent row `a` for a viewer. Columns of the owner's tier are added for owner and workspace alone,
 * so that they never leave the database for anybody else.
 */
export function agentJson(viewer: string | null): SQL {
  return sql`(jsonb_build_object(
    'id', a.id, 'name', a.name, 'description', a.description,
    'has_endpoint', ${hasEndpoint}, 'connection_retired', ${retiredMode},
    'agent_protocol', a.agent_protocol, 'allow_trial', a.allow_trial,
    'publish_answers', a.publish_answers,
    'verified_state', a.verified_state, 'registry_status', a.registry_status,
    'is_public', a.is_public, 'is_active', a.is_active, 'variant_of', a.variant_of,
    'created_at', a.created_at, 'updated_at', a.updated_at, 'sums', ${gapSums},
    'board', (
      select jsonb_build_object('composite_score', b.composite_score, 'score_variance', b.score_variance,
        'score_lowest', b.score_lowest, 'score_highest', b.score_highest, 'tasks', b.tasks, 'tier', b.tier, 'uneven', b.uneven,
        'rank', board_rank('all', 'all', ${whereRanked(sql`b.composite_score`)}, b.runs, b.agent_id, m.shift),
        'rank_low', r.rank_low, 'rank_high', r.rank_high)
      from ${board_entries} b cross join ${MOVED}
        cross join lateral board_range('all', 'all', false, ${whereRanked(sql`b.score_low`)}, b.score_high, m.shift) r
      where b.agent_id = a.id and b.domain = 'all' and b.period = 'all'
    )
  ) || case when ${may("see", viewer, agentOwner)} then jsonb_build_object(
    'connection_mode', a.connection_mode, 'endpoint', a.endpoint, 'auth_header_name', a.auth_header ->> 'name',
    'manifest_url', a.manifest_url,
    'provider_url', a.provider_url, 'daemon_last_seen_at', a.daemon_last_seen_at,
    'customer_llm_provider', a.customer_llm_provider, 'user_id', a.user_id, 'team_id', a.team_id,
    'declared_configuration', a.declared_configuration,
    'has_otlp_token', exists (select from ${otlp_tokens} o where o.agent_id = a.id),
    'workspace_activity', ${workspaceActivity}
  ) else '{}'::jsonb end)`;
}

/** SQL: an empty JSON object, to be added to an agent. */
export const NOTHING_MORE: SQL = sql`'{}'::jsonb`;

const BoardEntry = z.object({
  composite_score: z.number(),
  score_variance: z.number(),
  score_lowest: z.number(),
  score_highest: z.number(),
  tasks: z.int(),
  tier: z.literal([0, 1, 2]),
  uneven: z.boolean(),
  rank: z.int().nullable(),
  rank_low: z.int().nullable(),
  rank_high: z.int().nullable(),
});

/** An agent as `agentJson` gives it: with its scores as the board keeps them. */
export const AgentRow = AgentRead.omit({
  composite_score: true,
  score_low: true,
  score_high: true,
  score_basis: true,
  simulated: true,
  rank: true,
  rank_low: true,
  rank_high: true,
  memorisation_gap: true,
  memorised: true,
  uneven: true,
}).extend({ board: BoardEntry.nullable(), sums: GapSums });
export type AgentRow = z.output<typeof AgentRow>;

/** AgentRead from the database's JSON. */
export function toAgentRead({ board, sums, ...row }: AgentRow): z.output<typeof AgentRead> {
  const agent = { ...row, ...toMemorisation(sums) };
  if (board === null) {
    const unscored = {
      composite_score: 0,
      score_low: 0,
      score_high: 100,
      score_basis: null,
      simulated: false,
    } as const;
    return { ...agent, ...unscored, uneven: false, rank: null, rank_low: null, rank_high: null };
  }
  const { low, high } = scoreInterval(board);
  return {
    ...agent,
    composite_score: board.composite_score,
    score_low: low,
    score_high: high,
    score_basis: board.tier === 0 ? "core" : "provisional",
    simulated: board.tier === 2,
    uneven: board.uneven,
    rank: board.rank,
    rank_low: board.rank_low,
    rank_high: board.rank_high,
  };
}
