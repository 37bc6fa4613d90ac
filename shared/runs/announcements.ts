import { type SQL, sql } from "drizzle-orm";
import { type Moment, momentSql, utcText } from "../db/instant.ts";
import { owe } from "../db/owed.ts";
import { agents, isFinishedRun, webhooks } from "../db/schema/index.ts";
import { listensTo } from "../webhooks/match.ts";
import { runJson } from "./view.ts";

/** SQL: whether a subscription listens for events of this type about this agent. */
export function isHeard(type: SQL, agentId: SQL): SQL<boolean> {
  return sql`exists (select from ${agents} a join ${webhooks} w on ${listensTo}
    where a.id = ${agentId} and ${type} = any(w.event_types))`;
}

/**
 * SQL: a part of a statement that owes the consumer `announce` each of `events` (columns `agent_id`, `type`, `data`) that
 * a subscription listens for; if none does, nothing is written. Its rows are what `owed` collects.
 */
export function oweEvents(events: SQL, at: Moment): SQL {
  return owe(
    "announce",
    sql`e.id`,
    sql`jsonb_build_object('id', e.id, 'type', e.type, 'created_at', ${utcText(momentSql(at))}, 'agent_id', e.agent_id,
      'data', e.data)`,
    sql`from (select uuidv7() as id, x.* from (${events}) x where ${isHeard(sql`x.type`, sql`x.agent_id`)}) e`,
  );
}

/**
 * SQL: the events about the runs that `ended` (a part of the statement, with all columns of runs): each run as anybody
 * who sees it reads it. There is none for a cancelled run, nor for a trial, which belongs to its visitor and not to the
 * agent's owner.
 */
export function runEvents(ended: SQL): SQL {
  const instants = (["created_at", "started_at", "finalized_at"] as const).map(
    (name) => sql`${name}::text, ${utcText(sql`r.${sql.identifier(name)}`)}`,
  );
  return sql`select r.agent_id, 'run.' || r.status as type, jsonb_build_object('run',
      ${runJson(sql`false`)} || jsonb_build_object(${sql.join(instants, sql`, `)})) as data
    from ${ended} r where ${isFinishedRun(sql`r.status`)} and r.trigger <> 'trial'`;
}
