import { type SQL, sql } from "drizzle-orm";
import { task_submissions } from "../../db/schema/index.ts";

/** SQL: the JSON of the submission row `s`, for its submitter and for operators. */
export const submissionJson: SQL = sql`(s.task || jsonb_build_object('id', s.id, 'status', s.status,
  'flagged', cardinality(s.flags) > 0, 'flags', to_jsonb(s.flags), 'rationale', s.rationale,
  'submitter_id', s.submitter_id, 'rejection_reason', s.rejection_reason, 'task_id', s.task_id,
  'created_at', s.created_at, 'reviewed_at', s.reviewed_at))`;

/** SQL: makes decisions about one submission take turns: each sees what the one before it did. */
export function lockSubmission(submissionId: string): SQL {
  return sql`select s.id from ${task_submissions} s where s.id = ${submissionId}::uuid for no key update`;
}

/**
 * SQL: a FROM item `s`: the submission for which the condition over `s` holds, as it is after this statement, whose part
 * `updated` returns it if it changed it.
 */
export function decided(condition: SQL): SQL {
  return sql`(select * from updated union all
    select s.* from ${task_submissions} s where ${condition} and not exists (select from updated)) s`;
}
