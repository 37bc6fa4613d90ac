import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { DRAWN, owe, oweAnew, takeBack } from "../db/owed.ts";
import { runs as runTable } from "../db/schema/index.ts";

/** The body of every message about a run. */
export const RunMessage = z.strictObject({ run_id: z.uuid() });

/** The body of a message that has runs dispatched: one, or several of one agent that are carried out one after the other. */
export const DispatchMessage = z.union([RunMessage, z.strictObject({ run_ids: z.array(z.uuid()).min(1) })]);

/** The runs of a message. */
export function runsOf(message: z.output<typeof DispatchMessage>): string[] {
  return "run_ids" in message ? message.run_ids : [message.run_id];
}

/** The body of the message about a session that has finished. */
export const SessionMessage = z.strictObject({ screening_session_id: z.uuid() });

const runBody = sql`jsonb_build_object('run_id', id)`;

/** Runs of one message at most, and messages for the runs of one agent at least: twice as many as are delivered at once. */
const SHARED = { most: 10, messages: 8 };

/**
 * SQL: a part of a statement that has each new run of the part `runs` (columns `id`, `agent_id`) dispatched. Many runs of
 * one agent share messages. The flow key keeps the calls to one agent within bounds.
 * @example
 * sql`with reserved as (…), dispatches as (${oweDispatch("reserved")})` // then `owes: ["dispatches"]`
 */
export function oweDispatch(runs: string): SQL {
  const size = sql`greatest(1, least(${SHARED.most}::integer, count(*) over of_agent / ${SHARED.messages}::integer))`;
  const numbered = sql`select id, agent_id, ${size} as size, row_number() over (of_agent order by id) - 1 as place
    from ${sql.identifier(runs)} window of_agent as (partition by agent_id)`;
  const groups = sql`select agent_id, array_agg(id order by id) as ids from (${numbered}) n group by agent_id, place / size`;
  const body = sql`case when cardinality(ids) = 1 then jsonb_build_object('run_id', ids[1]) else jsonb_build_object('run_ids', ids) end`;
  return owe("dispatch", sql`ids[1]`, body, sql`from (${groups}) g`, sql`agent_id::text`);
}

/** SQL: as `oweDispatch`, each run by itself, for runs that were owed or taken up before. */
export function oweDispatchAgain(runs: string): SQL {
  return oweAnew(
    "dispatch",
    sql`select id, ${DRAWN} as generation, ${runBody} as body, agent_id::text as flow_key, null::timestamptz as not_before
      from ${sql.identifier(runs)}`,
  );
}

/** SQL: a part of a statement that withdraws the dispatch of the runs of the part `runs`, unless a queued one shares its message. */
export function withdrawDispatch(runs: string): SQL {
  const these = sql`select id from ${sql.identifier(runs)}`;
  const isShared = sql`exists (
    select from jsonb_array_elements_text(o.body -> 'run_ids') as sharing (id) join ${runTable} r on r.id = sharing.id::uuid
    where r.status = 'queued' and r.id not in (${these}))`;
  return takeBack(["dispatch"], these, sql`not ${isShared}`);
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
