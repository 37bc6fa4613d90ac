import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { utcText } from "../db/instant.ts";
import { columnsJson } from "../db/json.ts";
import { agents, run_evidence, team_members } from "../db/schema/index.ts";
import { agentOwner, visibleAgent } from "../agents/conditions.ts";
import { type Action, idOf, may, type Viewer } from "../teams/rights.ts";
import type { RunRead } from "./shown.ts";

/** RunRead as the database gives it. */
export type RunRow = z.output<typeof RunRead>;

/** Columns of a run that RunRead shows to everybody who sees the run, in its order. */
const PUBLIC_COLUMNS = [
  [
    "id",
    "agent_id",
    "task_id",
    "status",
    "trigger",
    "simulated",
    "screening_session_id",
    "repeat_index",
    "repeat_total",
  ],
  ["suite_id", "suite_version", "passed", "correctness", "axes", "latency_ms", "tool_calls_made", "failure_code"],
  ["evidence_cost_usd", "evidence_cost_source", "evidence_cost_partial", "evidence_priced_call_count"],
  [
    "evidence_unpriced_call_count",
    "evidence_total_call_count",
    "evidence_cost_floor_applied",
    "total_cost_usd",
    "serving_model",
    "input_tokens",
  ],
  ["output_tokens", "evidence_signed", "canary", "is_private", "created_at", "started_at", "finalized_at"],
].flat();

/** SQL: whether a viewer may do `action` with the run row `r`, by the owner of the agent row `a`. */
export function mayRun(action: Action, viewer: Viewer): SQL<boolean> {
  return may(action, viewer, agentOwner);
}

/**
 * SQL: whether a viewer may cancel `row`, a run `r` or a session `s` of the agent row `a`: who may run the agent, and who asked
 * for it. What was paid for by a certification only those may cancel who may buy one: it counts as not passed.
 */
export function mayCancel(row: "r" | "s", viewer: string): SQL<boolean> {
  const column = (name: string) => sql.raw(`${row}.${name}`);
  return sql`(case when ${column("trigger")} = 'certification' then coalesce(${mayRun("buy", viewer)}, false)
    else ${mayRun("run", viewer)} or coalesce(${askedFor(row, viewer)}, false) end)`;
}

/**
 * SQL: what a column is compared with to find the rows of one id, where they are put in order by that column and then by their
 * own ids: one that is known to be equal would be left out of the order, so that all ids of the table could give it, too.
 */
export const eachOf = (id: string | SQL): SQL => sql`any (array(select ${idOf(id)}))`;

/**
 * SQL: whether a viewer asked for `row`, a run `r` or a session `s`: for themselves, or for a workspace that they are still a
 * member of. Not true for a workspace's key: it acts in its owner's name, and what it sees goes with the workspace's agents.
 */
export function askedFor(row: "r" | "s", viewer: Viewer, as: typeof eachOf = idOf): SQL<boolean> {
  if (viewer === null) return sql`false`;
  const [user, team] = [sql.raw(`${row}.user_id`), sql.raw(`${row}.team_id`)];
  return sql`(${user} = ${as(viewer)} and (${team} is null
    or ${team} in (select m.team_id from ${team_members} m where m.user_id = ${idOf(viewer)})))`;
}

/** SQL: whether a viewer may see the run row `r` of the agent row `a`: it is public like its agent, theirs, or asked for by them. */
export function visibleRun(viewer: Viewer): SQL<boolean> {
  return sql`((not r.is_private and ${visibleAgent(viewer)}) or ${askedFor("r", viewer)} or ${mayRun("see", viewer)})`;
}

/** SQL: whether the run row `r` was asked for in a workspace, whoever sees it now. */
export function askedIn(teamId: string, as: typeof eachOf = idOf): SQL<boolean> {
  return sql`(r.team_id = ${as(teamId)} and r.scope = 'team')`;
}

/**
 * SQL: whether the statement of the run row `r` of the agent row `a` is everybody's: a counted run's, of an agent that is
 * public, or ceased to be so when the statement was there. What was once public stays so, whatever becomes of agent and
 * account. A statement is written under the lock of its agent, and whoever hides the agent waits for that.
 */
export const publicForGood: SQL<boolean> = sql`(r.counted and (a.is_public or exists (
  select from ${run_evidence} p where p.run_id = r.id and p.created_at <= a.last_public_at)))`;

/** Columns that the owner and members see in addition, or instead. */
export const OWNER_COLUMNS = ["scope", "team_id", "failure_detail", "architecture_version"] as const;

/** Of the owner's fields what everybody else is shown instead: the version that public runs alone count. */
const FOR_OTHERS = { architecture_version: sql`r.architecture_public_version` };

/**
 * The times of the run row `r` as RunRead has them, for where the database's JSON is not parsed by it: there they would be
 * written otherwise.
 */
export const TIMES: Readonly<Record<string, SQL>> = Object.fromEntries(
  ["created_at", "started_at", "finalized_at"].map((name) => [name, utcText(sql`r.${sql.identifier(name)}`)]),
);

/**
 * SQL: the JSON of the run row `r` for a viewer, with the owner's fields where `owned` (SQL) holds; `instead` gives columns
 * other values.
 */
export function runJson(owned: SQL, instead: Readonly<Record<string, SQL>> = {}): SQL {
  return sql`(case when ${owned} then ${columnsJson("r", [...PUBLIC_COLUMNS, ...OWNER_COLUMNS], instead)}
    else ${columnsJson("r", PUBLIC_COLUMNS, { ...FOR_OTHERS, ...instead })} end)`;
}

/** SQL: the parts that make up RunRead of the run row `r`, for where one look serves several viewers. */
export const runParts: SQL = sql`json_build_object('all', ${columnsJson("r", PUBLIC_COLUMNS)},
  'own', ${columnsJson("r", OWNER_COLUMNS)}, 'others', ${columnsJson("r", [], FOR_OTHERS)})`;

/** SQL: runs joined to their agents, as `r` and `a`. */
export function runsWithAgents(runs: SQL): SQL {
  return sql`${runs} r join ${agents} a on a.id = r.agent_id`;
}
