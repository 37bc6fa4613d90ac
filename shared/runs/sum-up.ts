import { type SQL, sql } from "drizzle-orm";
import { storeCells, storeEntries } from "../board/aggregates.ts";
import { storeGaps } from "../board/gaps.ts";
import type { Moment } from "../db/instant.ts";
import { kept } from "../db/kept.ts";
import type { Step } from "../db/written.ts";
import { oweEvents } from "./announcements.ts";

/** A step of a batch that sums up the cells of the agents and tasks that `pairs` (columns `agent_id`, `task_id`) selects. */
export function sumUp(pairs: SQL, at: Moment): Step {
  return { parts: sql`with cells as (${storeCells(pairs, at)})`, select: sql`null::jsonb` };
}

/**
 * A step of a batch that sums up the entries of agents on boards and their memorisation gaps, for each row of `boards` (columns `agent_id`, `domain` and,
 * as text, `run_id`), and announces each score that changed, with the last run that may have done so.
 */
export function rescore(boards: SQL, at: Moment): Step {
  const changed = sql`select s.agent_id, 'agent.score_updated' as type, jsonb_build_object('agent_id', s.agent_id,
      'previous_score', s.previous_score, 'score', s.score,
      'run_id', (select max(g.run_id) from given g where g.agent_id = s.agent_id)) as data
    from stored s where s.domain = 'all' and s.period = 'all' and s.score is distinct from s.previous_score`;
  const parts = sql`with given as (
    ${boards}
  ), stored as (
    ${storeEntries(sql`select distinct agent_id, domain from given`)}
    returning agent_id, domain, period, old.composite_score as previous_score, new.composite_score as score
  ), gaps as (
    ${storeGaps(sql`select distinct agent_id from given`)}
  ), announced as (${oweEvents(changed, at)})`;
  return { parts, owes: ["announced"], select: sql`null::jsonb` };
}

/** `sumUp` of the cells that a list of objects `{agent_id, task_id}` names. */
export const SUM_UP = kept(
  "sum_up",
  { cells: "jsonb", at: "timestamptz" },
  (value) =>
    sumUp(
      sql`select distinct agent_id, task_id from jsonb_to_recordset(${value("cells")}) as p(agent_id uuid, task_id uuid)`,
      value("at"),
    ),
  "in sets",
);

/** `rescore` of the boards that a list of objects `{agent_id, domain, run_id}` names. */
export const RESCORE = kept(
  "rescore",
  { boards: "jsonb", at: "timestamptz" },
  (value) =>
    rescore(
      sql`select * from jsonb_to_recordset(${value("boards")}) as b(agent_id uuid, domain text, run_id text)`,
      value("at"),
    ),
  "in sets",
);
