import { sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/view.ts";
import { read } from "../db/change.ts";
import { COUNTED, type Listing, pageParts, totalJson } from "../db/listing.ts";
import { RowPage } from "../db/page-result.ts";
import { agents, runs, screening_sessions, suites, teams } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { conflicting, notFound, Problem } from "../platform/problem.ts";
import { visibleSession } from "../runs/sessions.ts";
import { mayRun, runJson, runsWithAgents } from "../runs/view.ts";
import { may } from "../teams/rights.ts";
import type { RunFilter } from "./run-filter.ts";
import { countable, runScans } from "./run-scans.ts";

/**
 * A page of the runs that the caller may see, newest first; `RunRead` is yet to parse its items. `mine` shows those that
 * the caller asked for; `scope` and `team_id` go by the ownership that a run recorded when it was made. Throws
 * `conflicting_parameters`, `unauthenticated` for a filter that needs an account, 404 for an agent, workspace, session or suite
 * that is not visible.
 */
export async function listRuns(
  ctx: Context,
  principal: Principal,
  filter: RunFilter,
  paging: { page: number; page_size: number },
): Promise<RowPage> {
  const viewer = viewerId(principal);
  assertOneScope(filter, viewer);
  const { agent_id: agentId, team_id: teamId, screening_session_id: sessionId, suite_id: suiteId } = filter;
  const team = { user_id: sql`null::uuid`, team_id: sql`t.id` };
  const missing = sql`case
    when ${agentId ?? null}::uuid is not null and not exists (
      select from ${agents} a where a.id = ${agentId ?? null}::uuid and ${visibleAgent(viewer)}) then 'agent'
    when ${teamId ?? null}::uuid is not null and not exists (
      select from ${teams} t where t.id = ${teamId ?? null}::uuid and ${may("see", viewer, team)}) then 'workspace'
    when ${sessionId ?? null}::uuid is not null and not exists (
      select from ${screening_sessions} s join ${agents} a on a.id = s.agent_id
      where s.id = ${sessionId ?? null}::uuid and ${visibleSession(viewer)}) then 'screening session'
    when ${suiteId ?? null}::uuid is not null and not exists (
      select from ${suites} s where s.id = ${suiteId ?? null}::uuid) then 'suite' end`;
  const listing: Listing = {
    order: sql`id desc`,
    most: countable(filter) ? COUNTED.byIndex : COUNTED.byRow,
    scans: (cut) => runScans(viewer, filter, cut),
  };
  const result = await read(
    ctx,
    RowPage.extend({ missing: z.string().nullable() }),
    sql`with ${pageParts(listing, paging)}
    select ${totalJson} || jsonb_build_object('missing', ${missing}, 'items', coalesce((select jsonb_agg(${runJson(mayRun("see", viewer))} order by r.id desc)
        from ${runsWithAgents(sql`${runs}`)} join paged p on p.id = r.id), '[]')) as result`,
  );
  if (result === null || result.missing !== null) throw notFound(result?.missing ?? "run");
  return result;
}

function assertOneScope({ scope, team_id: teamId, mine }: RunFilter, viewer: string | null): void {
  const given = [scope === undefined ? null : "scope", teamId === undefined ? null : "team_id", mine ? "mine" : null];
  const names = given.filter((name) => name !== null);
  if (names.length > 1) throw conflicting(names);
  if (names.length === 1 && viewer === null)
    throw new Problem("unauthenticated", `The filter ${names[0]} needs an account; sign in to use it.`);
}
