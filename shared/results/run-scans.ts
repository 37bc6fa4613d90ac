import { type SQL, sql } from "drizzle-orm";
import { agentsOf, judgeTheirs, THEIRS } from "../agents/conditions.ts";
import { UNLIMITED } from "../db/listing.ts";
import { firstRunIdAt } from "../db/run-id.ts";
import { agents, runs } from "../db/schema/index.ts";
import { byFacets, facetConditions, facetsOfAgents, hasFacets, likeFacets } from "./run-facets.ts";
import { askedFor, askedIn, runsWithAgents, visibleRun } from "../runs/view.ts";
import { ofOwners } from "../teams/rights.ts";
import type { RunFilter } from "./run-filter.ts";

/** SQL: all that is asked of an agent whose runs are listed whoever made them: to plan its other columns takes time. */
const ID = sql`a.id`;

/** A filter, and the run behind which a slice of the list begins. */
type Narrowed = RunFilter & { older_than?: string; newer_than?: string };

/**
 * SQL: the scans of a list of the runs (`id`) that a viewer may see: those that everybody may see, those that the
 * viewer asked for, and those of the agents that the viewer has or shares. A run may be in several. A viewer without an
 * account (null) gives no filter that needs one. The statement has the parts `scanParts` before them.
 */
export function runScans(viewer: string | null, filter: Narrowed, cut: SQL): readonly [SQL, ...SQL[]] {
  const { agent_id: agentId, team_id: teamId, screening_session_id: sessionId, scope, mine } = filter;
  const own = narrowing(filter);
  const faceted = (scan: (facets: SQL) => SQL) => byFacets(filter, scan);
  if (sessionId !== undefined) {
    // A session has few runs, and nobody's own ones come from elsewhere.
    return [
      sql`select r.id from ${runsWithAgents(sql`${runs}`)} where r.screening_session_id = ${sessionId}::uuid
        and ${visibleRun(viewer)} ${ownership(viewer, filter)} ${own} ${facetConditions(filter)} ${cut}`,
    ];
  }
  // Nearly all agents with public runs are public, as the planner takes from the limit: it begins with the runs.
  const ofPublic = faceted(
    (facets) => sql`select r.id from ${runs} r cross join lateral (
        select from ${agents} a where a.id = r.agent_id and a.is_public and a.is_active limit 1) a
      where not r.is_private ${own} ${facets} ${cut}`,
  );
  const ofAgent = (condition: SQL) =>
    faceted(
      (facets) => sql`select r.id from ${runs} r
        where r.agent_id = ${agentId}::uuid and not r.is_private ${condition} ${own} ${facets} ${cut}`,
    );
  if (viewer === null) return [agentId === undefined ? ofPublic : ofAgent(sql``)];
  const asked = (condition: SQL) =>
    faceted(
      (facets) => sql`select r.id from ${runs} r where ${askedFor("r", viewer)} ${condition} ${own} ${facets} ${cut}`,
    );
  // Those of the viewer's agents: all, or those for which `condition` holds of the run and the agent row `a`.
  const ofAgents = (condition?: SQL) => {
    const scan = (agent: SQL, facets: SQL) =>
      sql`select r.id from ${runs} r where r.agent_id = ${agent} ${condition ?? sql``} ${own} ${facets} ${cut}`;
    if (hasFacets(filter)) {
      if (condition === undefined)
        return sql`select z.id from looks f cross join lateral (${scan(sql`f.agent_id`, likeFacets(filter))}) z`;
      // The planner takes `looks` for millions of rows: joined as usual, it would have all agents read.
      const agent = sql`select * from ${agents} where id = f.agent_id limit 1`;
      return sql`select z.id from looks f cross join lateral (${agent}) a
        cross join lateral (${scan(sql`a.id`, likeFacets(filter))}) z`;
    }
    const each = (these: SQL) => sql`select z.id from (${these}) a cross join lateral (${scan(sql`a.id`, sql``)}) z`;
    return scope === "personal"
      ? each(agentsMade(viewer))
      : ofOwners("see", viewer, (owner) => each(agentsOf(owner, ID)));
  };
  if (mine) return [asked(sql``)];
  if (teamId !== undefined) {
    // All that is asked of a run beyond its workspace is asked of each by itself: in one condition with it, the planner takes
    // the workspace to have few runs, and reads all of them, and all agents of the service.
    const seen = sql`select from ${agents} a where a.id = r.agent_id and ${askedIn(teamId)} and ${visibleRun(viewer)} limit 1`;
    return [
      faceted(
        (facets) => sql`select r.id from ${runs} r cross join lateral (${seen}) a
          where r.team_id = ${teamId}::uuid ${own} ${facets} ${cut}`,
      ),
    ];
  }
  if (scope === "personal") {
    const condition = sql`and r.scope = 'personal'`;
    return [asked(condition), ofAgents(sql`${condition} and ${visibleRun(viewer)}`)];
  }
  if (agentId !== undefined) {
    // Who has or shares the agent sees all of its runs; only for others the public ones and their own are put together.
    const all = faceted((facets) => sql`select r.id from ${runs} r where ${THEIRS} ${own} ${facets} ${cut}`);
    return [
      sql`select x.id from (
        (${all}) union all (${ofAgent(sql`and not ${THEIRS}`)})
        union all (${asked(sql`and r.is_private and not ${THEIRS}`)})) x ${cut}`,
    ];
  }
  return [ofPublic, asked(sql``), ofAgents()];
}

/**
 * SQL: the parts of a statement that the scans of a list rest on, each with a comma behind it: whether an agent is the
 * viewer's, or, in `looks`, the facets of the viewer's agents.
 */
export function scanParts(viewer: string | null, filter: RunFilter): SQL {
  const { agent_id: agentId, team_id: teamId, screening_session_id: sessionId, scope, mine } = filter;
  if (viewer === null || mine || teamId !== undefined || sessionId !== undefined) return sql``;
  if (scope === undefined && agentId !== undefined) return sql`${judgeTheirs(viewer, agentId)}, `;
  if (!hasFacets(filter)) return sql``;
  const these = scope === undefined ? ofOwners("see", viewer, (owner) => agentsOf(owner, ID)) : agentsMade(viewer);
  return sql`looks as materialized (${facetsOfAgents(these, filter)}), `;
}

/** SQL: a query of the agents `a` that an account made. */
function agentsMade(userId: string): SQL {
  return sql`select a.* from ${agents} a where a.user_id = ${userId}::uuid order by a.created_at desc ${UNLIMITED}`;
}

/** Whether indexes alone tell which runs a list has: one agent's, or what the viewer asked for. */
export function countable({ agent_id: agentId, mine, ...others }: RunFilter): boolean {
  const ofOne = mine !== (agentId !== undefined);
  return ofOne && Object.values(others).every((filter) => filter === undefined);
}

/** SQL: what a list is narrowed to besides whose runs it shows and their facets, as conditions of the run row `r`. */
function narrowing({ agent_id: agentId, task_id: taskId, suite_id: suiteId, ...made }: Narrowed): SQL {
  // The id of a run tells when it was made, to the millisecond.
  const idAt = (at: string) => sql`${firstRunIdAt(Date.parse(at))}::uuid`;
  return sql.join(
    [
      agentId === undefined ? sql`` : sql`and r.agent_id = ${agentId}::uuid`,
      taskId === undefined ? sql`` : sql`and r.task_id = ${taskId}::uuid`,
      suiteId === undefined ? sql`` : sql`and r.suite_id = ${suiteId}::uuid`,
      made.older_than === undefined ? sql`` : sql`and r.id < ${made.older_than}::uuid`,
      made.newer_than === undefined ? sql`` : sql`and r.id > ${made.newer_than}::uuid`,
      made.created_after === undefined ? sql`` : sql`and r.id >= ${idAt(made.created_after)}`,
      made.created_before === undefined ? sql`` : sql`and r.id < ${idAt(made.created_before)}`,
    ],
    sql` `,
  );
}

/** SQL: whose runs a list shows, as conditions of the run row `r`, where it is not found by them. */
function ownership(viewer: string | null, { mine, scope, team_id: teamId }: RunFilter): SQL {
  if (mine) return sql`and ${askedFor("r", viewer)}`;
  if (teamId !== undefined) return sql`and ${askedIn(teamId)}`;
  return scope === undefined
    ? sql``
    : sql`and r.scope = ${scope} and (r.user_id = ${viewer}::uuid or a.user_id = ${viewer}::uuid)`;
}
