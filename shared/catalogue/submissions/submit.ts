import { sql } from "drizzle-orm";
import type * as z from "zod";
import { write } from "../../db/change.ts";
import { task_submissions, users } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { quotaExceeded } from "../../platform/problem.ts";
import { flagsOf } from "./flags.ts";
import { isNearDuplicate } from "./flags-similarity.ts";
import { TaskSubmissionRead } from "./schemas.ts";
import type { TaskSubmissionCreate } from "./submission-create.ts";
import { submissionJson } from "./view.ts";

/** How many submissions of one account may wait for review. */
export const MAX_PENDING = 50;

/** Puts a proposed task into the moderation queue, with its flags. Throws `quota_exceeded` where too many wait already. */
export async function submitTask(
  ctx: Context,
  principal: SessionPrincipal,
  { rationale, ...task }: z.output<typeof TaskSubmissionCreate>,
): Promise<z.output<typeof TaskSubmissionRead>> {
  const submitter = sql`${principal.userId}::uuid`;
  const flags = sql`array(select jsonb_array_elements_text(${JSON.stringify(flagsOf(task))}::jsonb))`;
  const parts = sql`with waiting as (
    select count(*) as used from ${task_submissions} s where s.submitter_id = ${submitter} and s.status = 'pending'
  ), s as (
    insert into ${task_submissions} (submitter_id, task, rationale, flags)
    select ${submitter}, ${JSON.stringify(task)}::jsonb, ${rationale},
      case when ${isNearDuplicate(task.prompt)} then array['near_duplicate'] else '{}' end || ${flags}
    from waiting where used < ${MAX_PENDING} returning *
  )`;
  // One account's submissions take turns, so that together they stay within the limit.
  const lock = sql`select from ${users} where id = ${submitter} for no key update`;
  const select = sql`select ${submissionJson} as result from s`;
  const submission = await write(ctx, { lock, parts, select, result: TaskSubmissionRead });
  if (submission === null) {
    const told = `${MAX_PENDING} of your tasks wait for review; wait, or withdraw one.`;
    throw quotaExceeded(told, { limit: MAX_PENDING, used: MAX_PENDING });
  }
  return submission;
}
