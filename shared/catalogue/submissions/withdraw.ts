import { sql } from "drizzle-orm";
import { task_submissions } from "../../db/schema/index.ts";
import { writeJson } from "../../db/statement.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { lockSubmission, settled, type SubmissionRow, submissionJson } from "./view.ts";

/** Takes the caller's own submission back while it is pending; one that was decided stays as it is. Throws 404. */
export async function withdrawSubmission(
  ctx: Context,
  { userId }: SessionPrincipal,
  submissionId: string,
): Promise<SubmissionRow> {
  const own = sql`s.id = ${submissionId}::uuid and s.submitter_id = ${userId}::uuid`;
  const ctes = sql`with done as (
    update ${task_submissions} s set status = 'withdrawn' where ${own} and s.status = 'pending' returning s.*
  )`;
  const result = sql`select (select ${submissionJson} from ${settled(own)}) as result`;
  const submission = await writeJson<SubmissionRow | null>(ctx, ctes, result, lockSubmission(submissionId));
  if (submission === null) throw notFound("submission");
  return submission;
}
