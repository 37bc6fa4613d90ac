import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/view.ts";
import { read } from "../db/change.ts";
import { RowPage } from "../db/page-result.ts";
import { agents, run_exchanges, run_phases, runs, tasks, teams } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { conflicting, notFound, Problem } from "../platform/problem.ts";
import { RunOutput, RunPhases, RunRead, type RunStatus } from "../runs/schemas.ts";
import { mayRun, runJson, runsWithAgents, visibleRun } from "../runs/view.ts";
import { may } from "../teams/rights.ts";

/** One run as the caller may see it; throws 404. */
export async function readRun(ctx: Context, principal: Principal, runId: string): Promise<z.output<typeof RunRead>> {
  const viewer = viewerId(principal);
  const row = await read(
    ctx,
    RunRead,
    sql`select ${runJson(mayRun("see", viewer))} as result from ${runsWithAgents(sql`${runs}`)}
      where r.id = ${runId}::uuid and ${visibleRun(viewer)}`,
  );
  if (row === null) throw notFound("run");
  return row;
}

/** The facts of a run, in order; throws 404. */
export async function readPhases(
  ctx: Context,
  principal: Principal,
  runId: string,
): Promise<z.output<typeof RunPhases>> {
  const viewer = viewerId(principal);
  const result = await read(
    ctx,
    RunPhases,
    sql`select jsonb_build_object('run_id', r.id, 'items', coalesce((
        select jsonb_agg(to_jsonb(p) - 'run_id' order by p.sequence) from ${run_phases} p where p.run_id = r.id), '[]')) as result
      from ${runsWithAgents(sql`${runs}`)} where r.id = ${runId}::uuid and ${visibleRun(viewer)}`,
  );
  if (result === null) throw notFound("run");
  return result;
}

const Output = z.discriminatedUnion("allowed", [
  z.object({ allowed: z.literal(false) }),
  z.object({
    allowed: z.literal(true),
    /** The agent's answer as JSON text. */
    answer: z.string().nullable(),
    ...RunOutput.pick({ explanation: true, request: true, response: true }).shape,
  }),
]);

const Answer = z.object({ output: z.unknown().default(null) });

/** What was sent and received in a run, for owner and members; throws 404, and `forbidden` for others who see the run. */
export async function readOutput(
  ctx: Context,
  principal: Principal,
  runId: string,
): Promise<Omit<z.output<typeof RunOutput>, "output"> & { output: unknown }> {
  const viewer = viewerId(principal);
  const committed = (name: string): SQL => {
    const [body, salt] = [sql.identifier(name), sql.identifier(`${name}_salt`)];
    return sql`case when length(e.${salt}) > 0 then jsonb_build_object(
      'body_base64', replace(encode(e.${body}, 'base64'), chr(10), ''), 'salt', encode(e.${salt}, 'hex')) end`;
  };
  const row = await read(
    ctx,
    Output,
    sql`select jsonb_build_object('allowed', ${mayRun("see_outputs", viewer)}) || case when ${mayRun("see_outputs", viewer)}
        then jsonb_build_object('answer', e.answer, 'explanation', r.explanation,
          'request', case when not t.is_secret then ${committed("request")} end, 'response', ${committed("response")})
        else '{}' end as result
      from ${runsWithAgents(sql`${runs}`)} join ${tasks} t on t.id = r.task_id left join ${run_exchanges} e on e.run_id = r.id
      where r.id = ${runId}::uuid and ${visibleRun(viewer)}`,
  );
  if (row === null) throw notFound("run");
  if (!row.allowed)
    throw new Problem(
      "forbidden",
      "Only the agent's owner and the members of its workspace may see the output of its runs.",
    );
  const { answer, explanation, request, response } = row;
  const { output } = answer === null ? { output: null } : Answer.parse(JSON.parse(answer));
  return { run_id: runId, output, explanation, request, response };
}

/** Which runs a list shows. */
export interface RunFilter {
  agent_id?: string | undefined;
  task_id?: string | undefined;
  status?: z.output<typeof RunStatus> | undefined;
  scope?: "personal" | undefined;
  team_id?: string | undefined;
  mine: boolean;
  page: number;
  page_size: number;
}

/**
 * A page of the runs that the caller may see, newest first; `RunRead` is yet to parse its items. `mine` shows those that
 * the caller asked for; `scope` and `team_id` go by the ownership that a run recorded when it was made. Throws `conflicting_parameters`, `unauthenticated` for a filter
 * that needs an account, 404 for an agent or workspace that is not visible.
 */
export async function listRuns(ctx: Context, principal: Principal, filter: RunFilter): Promise<RowPage> {
  const viewer = viewerId(principal);
  assertOneScope(filter, viewer);
  const { agent_id: agentId, team_id: teamId, page, page_size: size } = filter;
  const conditions = [visibleRun(viewer)];
  if (agentId !== undefined) conditions.push(sql`r.agent_id = ${agentId}::uuid`);
  if (filter.task_id !== undefined) conditions.push(sql`r.task_id = ${filter.task_id}::uuid`);
  if (filter.status !== undefined) conditions.push(sql`r.status = ${filter.status}`);
  if (filter.mine) conditions.push(sql`r.user_id = ${viewer}::uuid`);
  if (filter.scope === "personal")
    conditions.push(sql`r.scope = 'personal' and (r.user_id = ${viewer}::uuid or a.user_id = ${viewer}::uuid)`);
  if (teamId !== undefined) conditions.push(sql`r.scope = 'team' and r.team_id = ${teamId}::uuid`);
  const team = { user_id: sql`null::uuid`, team_id: sql`t.id` };
  const found = sql`${agentId === undefined ? sql`true` : sql`exists (select from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)})`}
    and ${teamId === undefined ? sql`true` : sql`exists (select from ${teams} t where t.id = ${teamId}::uuid and ${may("see", viewer, team)})`}`;
  const result = await read(
    ctx,
    RowPage.extend({ found: z.boolean() }),
    sql`with hits as (
      select r.id from ${runsWithAgents(sql`${runs}`)} where ${sql.join(conditions, sql` and `)}
    ), paged as (select id from hits order by id desc limit ${size} offset ${(page - 1) * size})
    select jsonb_build_object('found', ${found}, 'total', (select count(*) from hits),
      'items', coalesce((select jsonb_agg(${runJson(mayRun("see", viewer))} order by r.id desc)
        from ${runsWithAgents(sql`${runs}`)} join paged on paged.id = r.id), '[]')) as result`,
  );
  if (result === null || !result.found) throw notFound(teamId === undefined ? "agent" : "workspace");
  return result;
}

function assertOneScope({ scope, team_id: teamId, mine }: RunFilter, viewer: string | null): void {
  const given = [scope === undefined ? null : "scope", teamId === undefined ? null : "team_id", mine ? "mine" : null];
  const names = given.filter((name) => name !== null);
  if (names.length > 1) throw conflicting(names);
  if (names.length === 1 && viewer === null)
    throw new Problem("unauthenticated", `The filter ${names[0]} needs an account; sign in to use it.`);
}
