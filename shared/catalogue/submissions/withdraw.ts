import { sql } from "drizzle-orm";
import type * as z from "zod";
import { write } from "../../db/change.ts";
import { task_submissions } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { TaskSubmissionRead } from "./schemas.ts";
import { decided, lockSubmission, submissionJson } from "./view.ts";

/** Takes the caller's own submission back while it is pending; one that was decided stays as it is. Throws 404. */
export async function withdrawSubmission(
  ctx: Context,
  { userId }: SessionPrincipal,
  submissionId: string,
): Promise<z.output<typeof TaskSubmissionRead>> {
  const own = sql`s.id = ${submissionId}::uuid and s.submitter_id = ${userId}::uuid`;
  const submission = await write(ctx, {
    lock: lockSubmission(submissionId),
    parts: sql`with updated as (
      update ${task_submissions} s set status = 'withdrawn' where ${own} and s.status = 'pending' returning s.*
    )`,
    select: sql`select ${submissionJson} as result from ${decided(own)}`,
    result: TaskSubmissionRead,
  });
  if (submission === null) throw notFound("submission");
  return submission;
}
