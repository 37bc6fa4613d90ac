import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { agentOwner, judgeTheirs, THEIRS, visibleAgent } from "../agents/conditions.ts";
import { read } from "../db/change.ts";
import { COUNTED, type Listing, pageJson, pageParts } from "../db/listing.ts";
import { readPage, RowPage } from "../db/page-result.ts";
import {
  agents,
  certifications,
  isInScreening,
  isOpenRun,
  runs,
  screening_sessions,
  suites,
} from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { may, type Viewer } from "../teams/rights.ts";
import { ScreeningSessionRead } from "./sessions-shown.ts";
import { sessionScore } from "./session-score.ts";
import { askedFor } from "./view.ts";

/** SQL: whether a viewer may see the session row `s` of the agent row `a`: like its runs. */
export function visibleSession(viewer: Viewer): SQL {
  return sql`((not s.is_private and ${visibleAgent(viewer)}) or ${askedFor("s", viewer)} or ${may("see", viewer, agentOwner)})`;
}

/**
 * SQL: the status of the certification under way that the session row `s` belongs to; null for every other session. Until
 * its verdict more runs may be added: those that wait for allowance, and repeats of those that failed by our fault.
 */
export const underWay: SQL = sql`(case when s.trigger = 'certification' then (
  select c.status from ${certifications} c
  where c.screening_session_id = s.id and ${isInScreening(sql`c.status`)}) end)`;

/** SQL: the order of a session's runs `r`: that in which they were reserved, so that one added later comes last. */
export const runOrder: SQL = sql`r.created_at, r.position, r.repeat_index, r.id`;

/** SQL: counts of the runs `r` of a session by which STATE tells its state; a run whose result is held back is open. */
const TALLY: SQL = sql`min(r.started_at) as started_at, count(*) as total,
  count(*) filter (where r.status = 'cancelled') as cancelled,
  count(*) filter (where ${isOpenRun(sql`r.status`)} or r.canary is null) as open`;

/** SQL: the state of the session row `s`, by the TALLY `x` of its runs and `c`, what may still add to them. */
const STATE: SQL = sql`case when c.status = 'paused_quota' then 'running'
  when x.open > 0 and x.started_at is null then 'queued'
  when x.open > 0 or c.status is not null then 'running'
  when x.cancelled = x.total or s.cancelled_at is not null then 'cancelled' else 'completed' end`;

/** SQL: the state of the session row `s` alone, as `sessionJson` tells it. */
export const sessionState: SQL = sql`(select ${STATE} from (select ${underWay} as status) c cross join (
  select ${TALLY} from ${runs} r where r.screening_session_id = s.id) x)`;

/**
 * SQL: the JSON of the session row `s`; its state is that of its runs, and of the certification that may add to them. While
 * results of its runs are held back it is not over.
 */
export const sessionJson: SQL = sql`(select json_build_object(
    'id', s.id, 'agent_id', s.agent_id, 'trigger', s.trigger, 'task_plan', s.task_plan, 'repeats', s.repeats,
    'suite_id', s.suite_id, 'simulated', x.simulated, 'is_private', s.is_private, 'created_at', s.created_at, 'run_ids', x.run_ids, 'counts', x.counts,
    'started_at', x.started_at, 'finished_at', case when x.open = 0 and c.status is null then x.finished_at end,
    'duration_ms', case when x.open = 0 and c.status is null
      then (extract(epoch from x.finished_at - x.started_at) * 1000)::bigint end,
    'evidence_cost_usd', case when x.open = 0 and c.status is null then x.cost_usd end,
    'priced_runs', case when x.open = 0 and c.status is null then x.priced_runs end,
    'composite_score', case when x.open = 0 and c.status is null then ${sessionScore} end,
    'canaries', case when x.open = 0 and c.status is null then x.canaries end,
    'status', ${STATE})
  from (select ${underWay} as status) c cross join (
    select coalesce(json_agg(r.id order by ${runOrder}), '[]') as run_ids, ${TALLY},
      coalesce(bool_or(r.simulated), false) as simulated,
      max(r.finalized_at) as finished_at, sum(r.evidence_cost_usd) as cost_usd,
      count(r.evidence_cost_usd) filter (where not r.evidence_cost_partial) as priced_runs,
      json_build_object('runs', count(*) filter (where r.canary), 'passed', count(*) filter (where r.canary and r.passed)) as canaries,
      json_build_object('queued', count(*) filter (where r.status = 'queued'),
        'running', count(*) filter (where r.status = 'running'), 'completed', count(*) filter (where r.status = 'completed'),
        'failed', count(*) filter (where r.status = 'failed'), 'cancelled', count(*) filter (where r.status = 'cancelled'),
        'passed', count(*) filter (where r.passed)) as counts
    from ${runs} r where r.screening_session_id = s.id
  ) x)`;

/** One screening session; throws 404 for one that is not visible. */
export async function readSession(
  ctx: Context,
  principal: Principal,
  sessionId: string,
): Promise<z.output<typeof ScreeningSessionRead>> {
  const viewer = viewerId(principal);
  const session = await read(
    ctx,
    ScreeningSessionRead,
    sql`select ${sessionJson} as result from ${screening_sessions} s join ${agents} a on a.id = s.agent_id
      where s.id = ${sessionId}::uuid and ${visibleSession(viewer)}`,
  );
  if (session === null) throw notFound("screening session");
  return session;
}

const Listed = RowPage.extend({ has_suite: z.boolean() });

/**
 * A page of an agent's screening sessions (ScreeningSessionRead, which the answer's schema parses), newest first, of one
 * suite where that is asked for; throws 404 for an agent that is not visible, and for a suite that does not exist.
 */
export async function listSessions(
  ctx: Context,
  principal: Principal,
  agentId: string,
  { suite_id: suiteId, ...paging }: { suite_id?: string | undefined; page: number; page_size: number },
): Promise<RowPage> {
  const viewer = viewerId(principal);
  const listing: Listing = {
    order: sql`created_at desc, id desc`,
    most: COUNTED.byRow,
    scans: (cut) => sessionScans(viewer, agentId, suiteId, cut),
  };
  const items = sql`(select json_agg(${sessionJson} order by s.created_at desc, s.id desc)
    from paged p join ${screening_sessions} s on s.id = p.id)`;
  const exists =
    suiteId === undefined ? sql`true` : sql`exists (select from ${suites} k where k.id = ${suiteId}::uuid)`;
  const result = await readPage(
    ctx,
    Listed,
    paging,
    (stretch) => sql`with ${judgeTheirs(viewer, agentId)}, ${pageParts(listing, stretch)}
    select ${pageJson(items, { has_suite: exists })} as result from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}`,
  );
  if (result === null) throw notFound("agent");
  if (!result.has_suite) throw notFound("suite");
  return result;
}

/**
 * SQL: the scans of the sessions of a visible agent that a viewer may see: for whom has or shares it all of them; for others
 * those that everybody may see, and those that they asked for. So nobody's list walks past what it does not show.
 */
function sessionScans(
  viewer: string | null,
  agentId: string,
  suiteId: string | undefined,
  cut: SQL,
): readonly [SQL, ...SQL[]] {
  const narrowed = suiteId === undefined ? sql`` : sql`and s.suite_id = ${suiteId}::uuid`;
  const scan = (condition: SQL) =>
    sql`select s.id, s.created_at from ${screening_sessions} s
      where s.agent_id = ${agentId}::uuid ${condition} ${narrowed} ${cut}`;
  if (viewer === null) return [scan(sql`and not s.is_private`)];
  const asked = sql`s.is_private and ${askedFor("s", viewer)}`;
  return [
    scan(sql`and ${THEIRS}`),
    scan(sql`and not s.is_private and not ${THEIRS}`),
    scan(sql`and ${asked} and not ${THEIRS}`),
  ];
}
