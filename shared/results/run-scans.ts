import { type SQL, sql } from "drizzle-orm";
import { agentOwner } from "../agents/view.ts";
import { agents, runs } from "../db/schema/index.ts";
import { runsWithAgents, visibleRun } from "../runs/view.ts";
import { may, ofOwners, ownerOf } from "../teams/rights.ts";
import type { RunFilter } from "./run-filter.ts";

type Narrowed = Omit<RunFilter, "page" | "page_size">;

/**
 * More agents than an owner can have. The planner uses the index for an order with a limit, even one whose value it
 * does not know.
 */
const ALL = sql`limit (select 1000000000)`;

/**
 * SQL: the scans of a list of the runs (`id`) that a viewer may see: those that everybody may see, those that the
 * viewer asked for, and those of the agents that the viewer has or shares. A run may be in several. A viewer without an
 * account (null) gives no filter that needs one.
 */
export function runScans(viewer: string | null, filter: Narrowed, cut: SQL): readonly [SQL, ...SQL[]] {
  const { agent_id: agentId, team_id: teamId, scope, mine } = filter;
  const own = narrowing(filter);
  if (viewer === null) return [agentId === undefined ? ofPublic(own, cut) : ofAgent(agentId, own, cut)];
  const asked = (condition: SQL) =>
    sql`select r.id from ${runs} r where r.user_id = ${viewer}::uuid ${condition} ${own} ${cut}`;
  if (mine) return [asked(sql``)];
  if (teamId !== undefined) {
    return [
      sql`select r.id from ${runsWithAgents(sql`${runs}`)}
        where r.team_id = ${teamId}::uuid and r.scope = 'team' and ${visibleRun(viewer)} ${own} ${cut}`,
    ];
  }
  if (scope === "personal") {
    const made = sql`select a.* from ${agents} a where a.user_id = ${viewer}::uuid order by a.created_at desc ${ALL}`;
    const condition = sql`and r.scope = 'personal'`;
    return [asked(condition), ofAgents(made, sql`${condition} and ${visibleRun(viewer)} ${own}`, cut)];
  }
  if (agentId !== undefined) {
    // Who has or shares the agent sees all of its runs; only for others the public ones and their own are put together.
    const theirs = sql`(select exists (
      select from ${agents} a where a.id = ${agentId}::uuid and ${may("see", viewer, agentOwner)}))`;
    return [
      sql`select x.id from (
        (select r.id from ${runs} r where ${theirs} ${own} ${cut})
        union all (${ofAgent(agentId, sql`and not ${theirs} ${own}`, cut)})
        union all (${asked(sql`and r.is_private and not ${theirs}`)})) x ${cut}`,
    ];
  }
  const shared = ofOwners("see", viewer, (owner) =>
    ofAgents(
      sql`select a.* from ${agents} a where ${ownerOf(agentOwner)} = ${owner}
        order by a.is_active, a.created_at desc, a.id desc ${ALL}`,
      own,
      cut,
    ),
  );
  return [ofPublic(own, cut), asked(sql``), shared];
}

/** Whether indexes alone tell which runs a list has: one agent's, or what the viewer asked for. */
export function countable({
  agent_id: agentId,
  task_id: taskId,
  status,
  scope,
  team_id: teamId,
  mine,
}: Narrowed): boolean {
  const ofOne = mine !== (agentId !== undefined);
  return ofOne && [taskId, status, scope, teamId].every((filter) => filter === undefined);
}

/** SQL: what a list is narrowed to besides whose runs it shows, as conditions of the run row `r`. */
function narrowing({ agent_id: agentId, task_id: taskId, status }: Narrowed): SQL {
  return sql.join([
    agentId === undefined ? sql`` : sql`and r.agent_id = ${agentId}::uuid`,
    taskId === undefined ? sql`` : sql` and r.task_id = ${taskId}::uuid`,
    status === undefined ? sql`` : sql` and r.status = ${status}`,
  ]);
}

/** SQL: the runs that everybody may see. */
function ofPublic(own: SQL, cut: SQL): SQL {
  return sql`select r.id from ${runsWithAgents(sql`${runs}`)}
    where not r.is_private and a.is_public and a.is_active ${own} ${cut}`;
}

/** SQL: the runs of an agent that everybody who sees the agent may see. */
function ofAgent(agentId: string, own: SQL, cut: SQL): SQL {
  return sql`select r.id from ${runs} r where r.agent_id = ${agentId}::uuid and not r.is_private ${own} ${cut}`;
}

/** SQL: the runs of these agents for which `condition` holds. */
function ofAgents(these: SQL, condition: SQL, cut: SQL): SQL {
  return sql`select y.id from (${these}) a cross join lateral (
      select r.id from ${runs} r where r.agent_id = a.id ${condition} ${cut}) y`;
}
