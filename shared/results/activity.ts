import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { agentOwner } from "../agents/conditions.ts";
import { read } from "../db/change.ts";
import { COUNTED, type Listing, pageJson, pageParts, sliceJson, sliceParts } from "../db/listing.ts";
import { readPage, RowPage, RowSlice } from "../db/page-result.ts";
import { firstRunIdAt } from "../db/run-id.ts";
import { agents, RUN_STATES, runs, screening_sessions, team_members } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { Instant } from "../platform/time.ts";
import { sessionState } from "../runs/sessions.ts";
import { ownerOf } from "../teams/rights.ts";
import { noTeam, teamFor } from "../teams/view.ts";

export const TeamActivityRead = z
  .object({
    kind: z.enum(["run", "screening_session", "member_joined", "agent_created"]),
    at: Instant.meta({
      description: "When the run or session was asked for, the member joined or the agent was created",
    }),
    user_id: z.uuid().nullable().meta({ description: "Who did it; null once that account is deleted" }),
    agent_id: z.uuid().nullable(),
    run_id: z.uuid().nullable().meta({ description: "Of a `run`, which belongs to no session" }),
    screening_session_id: z.uuid().nullable(),
    status: z.enum(RUN_STATES).nullable().meta({ description: "Of the run or session as it stands now" }),
  })
  .meta({ id: "TeamActivityRead" });

/**
 * A page of what happened in a workspace, newest first: runs and sessions of its agents that it paid for, members who
 * joined and are still there, agents that were created. `TeamActivityRead` is yet to parse its items. Throws 404 for a
 * workspace that the account is no member of.
 */
export async function listActivity(
  ctx: Context,
  userId: string,
  teamId: string,
  paging: { page: number; page_size: number },
): Promise<RowPage> {
  const list = listing(teamId, null);
  const team = teamFor("see", userId, teamId);
  const result = await readPage(ctx, RowPage, paging, (stretch) => statement(team, pageParts(list, stretch), pageJson));
  if (result === null) throw noTeam();
  return result;
}

/** The keys by which what happened is read on. */
export const ActivityKey = z.object({ at: z.iso.datetime({ offset: true }), id: z.uuid() });
type Place = z.output<typeof ActivityKey> | null;

/** A slice of the same list, from behind an item on, or from the newest one (null). Throws 404 as `listActivity` does. */
export async function sliceActivity(
  ctx: Context,
  userId: string,
  teamId: string,
  { after, size }: { after: Place; size: number },
): Promise<RowSlice> {
  const list = listing(teamId, after);
  const team = teamFor("see", userId, teamId);
  const result = await read(ctx, RowSlice, statement(team, sliceParts(list, size), sliceJson(list)));
  if (result === null) throw noTeam();
  return result;
}

function listing(teamId: string, after: Place): Listing {
  return {
    order: sql`at desc, id desc`,
    most: COUNTED.byRow,
    scans: (cut, limit) => scans(teamId, after, cut, limit),
  };
}

function statement(team: SQL, parts: SQL, listJson: (items: SQL) => SQL): SQL {
  const item = sql`json_build_object('kind', p.kind, 'at', p.at, 'user_id', p.user_id, 'agent_id', p.agent_id,
    'run_id', case p.kind when 'run' then p.id end,
    'screening_session_id', case p.kind when 'screening_session' then p.id end,
    'status', case p.kind when 'run' then (select r.status from ${runs} r where r.id = p.id)
      when 'screening_session' then (
        select ${sessionState} from ${screening_sessions} s where s.id = p.id) end)`;
  const items = sql`(select json_agg(${item} order by p.at desc, p.id desc) from paged p)`;
  return sql`with team as (${team}), ${parts} select ${listJson(items)} as result from team`;
}

/** SQL: the scans of what happened in a workspace, from behind an item on. Ids of runs have the order of their times. */
function scans(teamId: string, after: Place, cut: SQL, limit: SQL): readonly [SQL, ...SQL[]] {
  const team = sql`${teamId}::uuid`;
  const older = (at: SQL, id: SQL) =>
    after === null ? sql`` : sql`and (${at}, ${id}) < (${after.at}::timestamptz, ${after.id}::uuid)`;
  const olderRun =
    after === null
      ? sql``
      : sql`and r.id < ${firstRunIdAt(Date.parse(after.at) + 1)}::uuid ${older(sql`r.created_at`, sql`r.id`)}`;
  const created = (isActive: boolean) =>
    sql`select 'agent_created' as kind, a.id, a.created_at as at, a.user_id, a.id as agent_id from ${agents} a
      where ${ownerOf(agentOwner)} = ${team} and a.is_active = ${isActive} ${older(sql`a.created_at`, sql`a.id`)} ${cut}`;
  return [
    sql`select 'screening_session' as kind, s.id, s.created_at as at, s.user_id, s.agent_id
      from ${screening_sessions} s ${stillThere(sql`s`)}
      where s.team_id = ${team} ${older(sql`s.created_at`, sql`s.id`)} ${cut}`,
    sql`select 'run' as kind, r.id, r.created_at as at, r.user_id, r.agent_id
      from ${runs} r ${stillThere(sql`r`)}
      where r.team_id = ${team} and r.screening_session_id is null ${olderRun} order by r.id desc ${limit}`,
    sql`select 'member_joined' as kind, m.user_id as id, m.joined_at as at, m.user_id, null::uuid as agent_id
      from ${team_members} m where m.team_id = ${team} ${older(sql`m.joined_at`, sql`m.user_id`)} ${cut}`,
    created(true),
    created(false),
  ];
}

/** SQL: joins the row to its agent where the agent is in the row's workspace; as the planner knows, nearly all are. */
function stillThere(row: SQL): SQL {
  return sql`cross join lateral (
    select from ${agents} a where a.id = ${row}.agent_id and a.team_id = ${row}.team_id limit 1) a`;
}
