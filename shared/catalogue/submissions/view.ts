import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { task_submissions } from "../../db/schema/index.ts";
import type { TaskSubmissionRead } from "./schemas.ts";

/** A submission as the database gives it. */
export type SubmissionRow = z.input<typeof TaskSubmissionRead>;

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
 * SQL: a FROM item `s`: the submission that a condition over `s` names, as the part `done` of the statement, which
 * returns it where it changed it, left it.
 */
export function settled(condition: SQL): SQL {
  return sql`(select * from done union all
    select s.* from ${task_submissions} s where ${condition} and not exists (select from done)) s`;
}
