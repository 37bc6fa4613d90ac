import { type SQL, sql } from "drizzle-orm";
import { type Moment, utcText } from "../db/instant.ts";
import { oweEvents } from "../runs/announcements.ts";
import { runsMissing } from "./rules.ts";

/**
 * SQL: a part of a statement that owes the consumer `announce` the new state of each certification of `changed`, a query of
 * all columns of certifications as they are now, one row for each whose status changed. Its rows are what `owed` collects.
 * @example
 * sql`with updated as (update … returning c.*), changes as (${oweChanges(sql`select * from updated`, now)})` // `owes: ["changes"]`
 */
export function oweChanges(changed: SQL, at: Moment): SQL {
  return oweEvents(
    sql`select c.agent_id, 'certification.updated' as type, jsonb_build_object('agent_id', c.agent_id,
      'certification_id', c.id, 'screening_session_id', c.screening_session_id, 'status', c.status,
      'paused_reason', c.paused_reason, 'score', c.score, 'issued_at', ${utcText(sql`c.issued_at`)},
      'expires_at', ${utcText(sql`c.expires_at`)},
      'runs_missing', case when c.status = 'not_certified' then ${runsMissing} else 0 end) as data from (${changed}) c`,
    at,
  );
}
