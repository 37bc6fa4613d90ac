import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { owe, oweAnew } from "../db/owed.ts";

/** The body of every message about a run. */
export const RunMessage = z.strictObject({ run_id: z.uuid() });

/** The body of the message about a session that has finished. */
export const SessionMessage = z.strictObject({ screening_session_id: z.uuid() });

const runBody = sql`jsonb_build_object('run_id', id)`;

/**
 * SQL: a part of a statement that has each new run of the part `runs` (columns `id`, `agent_id`) dispatched. The flow key
 * keeps the calls to one agent within bounds.
 * @example
 * sql`with reserved as (…), dispatches as (${oweDispatch("reserved")})` // then `owes: ["dispatches"]`
 */
export function oweDispatch(runs: string): SQL {
  return owe("dispatch", sql`id`, runBody, sql`from ${sql.identifier(runs)}`, sql`agent_id::text`);
}

/** SQL: as `oweDispatch`, for runs (and their `attempt`) that were taken up before. */
export function oweDispatchAgain(runs: string): SQL {
  return oweAnew(
    "dispatch",
    sql`select id, attempt as generation, ${runBody} as body, agent_id::text as flow_key, null::timestamptz as not_before
      from ${sql.identifier(runs)}`,
  );
}

/**
 * SQL: a part of a statement that has each answered run of `runs` graded: a query of the columns `id`, `attempt` and, by
 * when its telemetry has come, `not_before`.
 */
export function oweScore(runs: SQL): SQL {
  return oweScoreOrExpiry(sql`select r.*, true as answered from (${runs}) r`);
}

/**
 * SQL: as `oweScore`, where `runs` also has the column `answered`: a run that is not waits for its callback, and that wait
 * ends at `not_before`.
 */
export function oweScoreOrExpiry(runs: SQL): SQL {
  return oweAnew(
    sql`case when answered then 'score' else 'expire' end`,
    sql`select id, answered, attempt as generation, ${runBody} as body, null as flow_key, not_before from (${runs}) r`,
  );
}
