import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { change, type Refusal, telling, type Verdict } from "../../db/change.ts";
import { task_submissions } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Notice } from "../../mail/notices.ts";
import { oweNotice } from "../../mail/owe-notice.ts";
import type { Context } from "../../platform/context.ts";
import { notFound, Problem } from "../../platform/problem.ts";
import { DEFAULT_REFERENCES } from "../create-task-schemas.ts";
import { insertTask, lockSuite, MISPLACED, noSuite, otherSecrecy, placeIn } from "../create-task.ts";
import { type TaskSubmissionApprove, TaskSubmissionRead, type TaskSubmissionReject } from "./schemas.ts";
import { decided, lockSubmission, submissionJson } from "./view.ts";

type Submission = z.output<typeof TaskSubmissionRead>;

const Decided = z.object({ submission: TaskSubmissionRead });

/**
 * Makes a pending submission a task at the end of a suite, or of none, and mails its submitter. One that is already
 * approved stays as it is: no second task. Throws 404, `submission_closed` for one that was rejected or withdrawn, and
 * what `createTask` throws about the suite.
 */
export async function approveSubmission(
  ctx: Context,
  principal: SessionPrincipal,
  submissionId: string,
  input: z.output<typeof TaskSubmissionApprove>,
): Promise<Submission> {
  const { suite_id: suiteId = null, is_secret: isSecret = null, ...changes } = input;
  const overrides = sql`${JSON.stringify({ ...DEFAULT_REFERENCES, ...changes })}::jsonb`;
  const outcome = sql`case s.status when 'approved' then 'done' when 'pending' then (select outcome from place)
    else 'closed' end`;
  const { submission } = await change(ctx, {
    ...decision(submissionId, { sql: outcome, cases: [...MISPLACED, "closed"] }),
    lock: sql`select (${lockSubmission(submissionId)}), (${lockSuite(suiteId)})`,
    parts: sql`with place as (${placeIn(suiteId, isSecret)}), pending as (
      select s.* from ${task_submissions} s where s.id = ${submissionId}::uuid and s.status = 'pending'
    ), created as (
      ${insertTask(sql`w.task || ${overrides}`, sql`pending w join place p on p.outcome = 'done'`)}
    ), updated as (
      update ${task_submissions} s set status = 'approved', task_id = c.id, ${reviewedBy(ctx, principal)}
      from created c where s.id = ${submissionId}::uuid returning s.*
    ), ${mailed("submission_approved")}`,
    refusals: { not_found: noSubmission, no_suite: noSuite, other_secrecy: otherSecrecy, closed },
  });
  ctx.cache.invalidate("catalogue");
  return submission;
}

/**
 * Closes a pending submission with a reason, and mails it to the submitter. One that is already rejected keeps its first
 * reason. Throws 404, and `submission_closed` for one that was approved or withdrawn.
 */
export async function rejectSubmission(
  ctx: Context,
  principal: SessionPrincipal,
  submissionId: string,
  { reason }: z.output<typeof TaskSubmissionReject>,
): Promise<Submission> {
  const outcome = sql`case s.status when 'rejected' then 'done' else 'closed' end`;
  const { submission } = await change(ctx, {
    ...decision(submissionId, { sql: outcome, cases: ["closed"] }),
    lock: lockSubmission(submissionId),
    parts: sql`with updated as (
      update ${task_submissions} s set status = 'rejected', rejection_reason = ${reason}, ${reviewedBy(ctx, principal)}
      where s.id = ${submissionId}::uuid and s.status = 'pending' returning s.*
    ), ${mailed("submission_rejected")}`,
    refusals: { not_found: noSubmission, closed },
  });
  return submission;
}

/** What both decisions have in common; the outcome is SQL over the submission `s` as the decision has left it. */
function decision<const Case extends string>(submissionId: string, verdict: Verdict<Case>) {
  const result = sql`select jsonb_build_object('outcome', ${verdict.sql}, 'submission', ${submissionJson}) as result
    from ${decided(sql`s.id = ${submissionId}::uuid`)}`;
  return { verdict, result, done: Decided, owes: ["mailed"] } as const;
}

function reviewedBy(ctx: Context, { userId }: SessionPrincipal): SQL {
  return sql`reviewer_id = ${userId}::uuid, reviewed_at = ${ctx.now().toISOString()}::timestamptz`;
}

/** SQL: the part `mailed`: it owes the submitter of the submission `updated`, if there is one, the notice of it. */
function mailed(notice: Notice): SQL {
  return sql`mailed as (${oweNotice(
    "submission_review",
    sql`select s.submitter_id as user_id, ${notice}::text as notice, s.task ->> 'title' as title,
      s.rejection_reason as reason, null::uuid as page_id from updated s`,
  )})`;
}

function noSubmission(): Problem {
  return notFound("submission");
}

const closed: Refusal = telling(
  Decided,
  ({ submission: { status } }) =>
    new Problem("submission_closed", `This submission is already ${status}, and stays so.`),
);
