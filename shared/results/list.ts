import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/conditions.ts";
import { read } from "../db/change.ts";
import { COUNTED, type Listing, pageJson, pageParts, sliceJson, sliceParts } from "../db/listing.ts";
import { readPage, RowPage, RowSlice } from "../db/page-result.ts";
import { agents, runs, screening_sessions, suites, tasks, teams } from "../db/schema/index.ts";
import { type Principal, viewerId, workspaceOf } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { conflicting, notFound, Problem } from "../platform/problem.ts";
import { visibleSession } from "../runs/sessions.ts";
import { mayRun, runJson, runsWithAgents } from "../runs/view.ts";
import { may } from "../teams/rights.ts";
import type { RunFilter, RunSort } from "./run-filter.ts";
import { countable, runScans, scanParts } from "./run-scans.ts";

/** What a list of runs is asked for, besides where it begins. */
export interface RunsAsked {
  filter: RunFilter;
  sort: RunSort;
}

/**
 * A page of the runs that the caller may see; `RunRead` is yet to parse its items. `mine` shows those that the caller
 * asked for, and to a workspace's key those that were asked for in the workspace; `scope` and `team_id` go by the ownership
 * that a run recorded when it was made. Throws `conflicting_parameters`, `unauthenticated` for a filter that needs an account,
 * 404 for an agent, workspace, session, suite or task that is not visible.
 */
export async function listRuns(
  ctx: Context,
  principal: Principal,
  { filter: given, sort }: RunsAsked,
  paging: { page: number; page_size: number },
): Promise<RowPage> {
  const viewer = viewerId(principal);
  const by = columnOf(sort);
  if (by !== "id" && given.screening_session_id === undefined) throw needsSession(sort);
  const filter = filterFor(principal, given);
  const listing: Listing = {
    order: orderOf(sort),
    most: countable(filter) ? COUNTED.byIndex : COUNTED.byRow,
    scans: (cut) => {
      if (by === "id") return runScans(viewer, filter, cut);
      // Of a session there is one scan, with all of its runs.
      const [ofSession] = runScans(viewer, filter, sql``);
      return [sql`select r.id, r.${sql.identifier(by)} from (${ofSession}) s join ${runs} r on r.id = s.id ${cut}`];
    },
  };
  const statement = statementOf(viewer, { filter, sort });
  const found = await readPage(ctx, RowPage.extend(Missing), paging, (stretch) =>
    statement(pageParts(listing, stretch), pageJson),
  );
  return present(found);
}

/** The keys by which a list of runs is read on. */
export const RunKey = z.object({ id: z.uuid() });

/**
 * A slice of the runs that the caller may see, from behind a run on, or from the beginning (null). Throws as `listRuns`
 * does, and `conflicting_parameters` for another order than by time.
 */
export async function sliceRuns(
  ctx: Context,
  principal: Principal,
  { filter: given, sort }: RunsAsked,
  { after, size }: { after: z.output<typeof RunKey> | null; size: number },
): Promise<RowSlice> {
  const viewer = viewerId(principal);
  if (columnOf(sort) !== "id") throw conflicting(["sort", "cursor"]);
  const filter = filterFor(principal, given);
  const bound = after === null ? {} : sort === "created_at" ? { newer_than: after.id } : { older_than: after.id };
  const listing: Listing = {
    order: orderOf(sort),
    most: COUNTED.byRow,
    scans: (cut) => runScans(viewer, { ...filter, ...bound }, cut),
  };
  const statement = statementOf(viewer, { filter, sort });
  return present(await read(ctx, RowSlice.extend(Missing), statement(sliceParts(listing, size), sliceJson(listing))));
}

/** What of that which a list is narrowed to the caller may not see. */
const Missing = { missing: z.string().nullable() };

/** Makes the statement that reads a list of runs: of the parts that find them, and what makes JSON of items and `missing`. */
function statementOf(viewer: string | null, { filter, sort }: RunsAsked) {
  const items = sql`(select json_agg(${runJson(mayRun("see", viewer))} order by ${orderOf(sort, sql`r.`)})
    from ${runsWithAgents(sql`${runs}`)} join paged p on p.id = r.id)`;
  return (parts: SQL, listJson: (items: SQL, further: Readonly<Record<string, SQL>>) => SQL) =>
    sql`with ${scanParts(viewer, filter)}${parts}
    select ${listJson(items, { missing: missing(viewer, filter) })} as result`;
}

/** What was read; throws 404 where something that it was narrowed to is missing. */
function present<Found extends { missing: string | null }>(found: Found | null): Found {
  if (found === null || found.missing !== null) throw notFound(found?.missing ?? "run");
  return found;
}

/** SQL: what of that which a list is narrowed to the viewer may not see; null where all is visible. */
function missing(viewer: string | null, filter: RunFilter): SQL {
  const { agent_id: agentId, team_id: teamId, screening_session_id: sessionId } = filter;
  const { suite_id: suiteId, task_id: taskId } = filter;
  const team = { user_id: sql`null::uuid`, team_id: sql`t.id` };
  // Only what is asked for: to plan the other look-ups takes longer than to make them.
  const found: [name: string, SQL][] = [];
  if (agentId !== undefined)
    found.push(["agent", sql`select from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}`]);
  if (teamId !== undefined)
    found.push(["workspace", sql`select from ${teams} t where t.id = ${teamId}::uuid and ${may("see", viewer, team)}`]);
  if (sessionId !== undefined) {
    const ofAgents = sql`${screening_sessions} s join ${agents} a on a.id = s.agent_id`;
    found.push([
      "screening session",
      sql`select from ${ofAgents} where s.id = ${sessionId}::uuid and ${visibleSession(viewer)}`,
    ]);
  }
  if (suiteId !== undefined) found.push(["suite", sql`select from ${suites} s where s.id = ${suiteId}::uuid`]);
  // Everybody sees that a task is there, be it a secret or a retired one.
  if (taskId !== undefined) found.push(["task", sql`select from ${tasks} t where t.id = ${taskId}::uuid`]);
  if (found.length === 0) return sql`null`;
  const cases = found.map(([name, lookUp]) => sql`when not exists (${lookUp}) then ${sql.raw(`'${name}'`)}`);
  return sql`case ${sql.join(cases, sql` `)} end`;
}

/** The column that orders a list: ids of runs have the order of their times. */
function columnOf(sort: RunSort): string {
  const column = sort.replace("-", "");
  return column === "created_at" ? "id" : column;
}

/** SQL: the order of a list, by columns of its scans or `of` a row. */
function orderOf(sort: RunSort, of: SQL = sql``): SQL {
  const column = columnOf(sort);
  const direction = sort.startsWith("-") ? sql`desc` : sql`asc`;
  if (column === "id") return sql`${of}id ${direction}`;
  return sql`${of}${sql.identifier(column)} ${direction} nulls last, ${of}id desc`;
}

function needsSession(sort: RunSort): Problem {
  const message = `Only the runs of one session can be sorted by ${sort.replace("-", "")}; send screening_session_id too.`;
  return new Problem("validation_failed", message, {
    errors: [{ in: "query", pointer: "/sort", code: "missing_field", message }],
  });
}

/**
 * What a list is narrowed to for the caller: with a workspace's key `mine` is what was asked for in the workspace. Throws where
 * it says twice whose runs are shown, and where that needs an account.
 */
function filterFor(principal: Principal, filter: RunFilter): RunFilter {
  assertOneScope(filter, viewerId(principal));
  const team = principal.kind === "anonymous" ? null : workspaceOf(principal);
  return filter.mine && team !== null ? { ...filter, mine: false, team_id: team } : filter;
}

function assertOneScope({ scope, team_id: teamId, mine }: RunFilter, viewer: string | null): void {
  const given = [scope === undefined ? null : "scope", teamId === undefined ? null : "team_id", mine ? "mine" : null];
  const names = given.filter((name) => name !== null);
  if (names.length > 1) throw conflicting(names);
  if (names.length === 1 && viewer === null)
    throw new Problem("unauthenticated", `The filter ${names[0]} needs an account; sign in to use it.`);
}
