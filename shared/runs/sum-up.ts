import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { storeCells, storeEntries } from "../board/aggregates.ts";
import { storeGaps } from "../board/gaps.ts";
import type { Write } from "../db/change.ts";
import { oweEvents } from "./announcements.ts";

/** A step of a batch that sums up the cells of the agents and tasks that `pairs` (columns `agent_id`, `task_id`) selects. */
export function sumUp(pairs: SQL, at: Date): Pick<Write<z.ZodType>, "parts"> {
  return { parts: sql`with cells as (${storeCells(pairs, at)})` };
}

/**
 * A step of a batch that sums up the entries of agents on boards and their memorisation gaps, for each row of `boards` (columns `agent_id`, `domain` and,
 * as text, `run_id`), and announces each score that changed, with the last run that may have done so.
 */
export function rescore(boards: SQL, at: Date): Pick<Write<z.ZodType>, "parts" | "owes"> {
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
  return { parts, owes: ["announced"] };
}
