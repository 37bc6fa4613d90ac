import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { task_submissions, users } from "../../db/schema/index.ts";
import { writeJson } from "../../db/statement.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Notice } from "../../mail/message.ts";
import type { Context } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";
import { notFound, Problem } from "../../platform/problem.ts";
import { flush } from "../../db/outbox.ts";
import { owe, owed } from "../../db/owed.ts";
import type { Message } from "../../platform/message.ts";
import { DEFAULT_REFERENCES } from "../create-task-schemas.ts";
import { type Fit, insertTask, lockSuite, misplaced, placeIn } from "../create-task.ts";
import type { TaskSubmissionApprove, TaskSubmissionReject } from "./schemas.ts";
import { lockSubmission, settled, type SubmissionRow, submissionJson } from "./view.ts";

interface Outcome {
  submission: SubmissionRow;
  messages: Message[];
  /** Whether the task can stand where it is wanted; null where none is minted. */
  fit: Fit | null;
}

/**
 * Makes a pending submission a task at the end of a suite, or of none, and mails its submitter. One that is approved
 * already stays as it is: no second task. Throws 404, `submission_closed` for one that was rejected or withdrawn, and
 * what `createTask` throws about the suite.
 */
export async function approveSubmission(
  ctx: Context,
  principal: SessionPrincipal,
  submissionId: string,
  input: z.output<typeof TaskSubmissionApprove>,
): Promise<SubmissionRow> {
  const { suite_id: suiteId = null, is_secret: isSecret = null, ...changes } = input;
  const overrides = sql`${JSON.stringify({ ...DEFAULT_REFERENCES, ...changes })}::jsonb`;
  const ctes = sql`with place as (${placeIn(suiteId, isSecret)}), pending as (
    select s.* from ${task_submissions} s where s.id = ${submissionId}::uuid and s.status = 'pending'
  ), minted as (
    ${insertTask(sql`w.task || ${overrides}`, sql`pending w join place p on p.fit = 'fits'`)}
  ), done as (
    update ${task_submissions} s set status = 'approved', task_id = m.id, ${reviewedBy(ctx, principal)}
    from minted m where s.id = ${submissionId}::uuid returning s.*
  ), ${mailed(ctx, "submission_approved")}`;
  const lock = sql`select (${lockSubmission(submissionId)}), (${lockSuite(suiteId)})`;
  const { submission, fit } = await decide(ctx, submissionId, ctes, sql`(select fit from place)`, lock);
  if (submission.status === "pending" && fit !== null && fit !== "fits") throw misplaced(fit);
  assertStatus(submission, "approved");
  ctx.cache.invalidate("catalogue");
  return submission;
}

/**
 * Closes a pending submission with a reason, and mails it to the submitter. One that is rejected already keeps its first
 * reason. Throws 404, and `submission_closed` for one that was approved or withdrawn.
 */
export async function rejectSubmission(
  ctx: Context,
  principal: SessionPrincipal,
  submissionId: string,
  { reason }: z.output<typeof TaskSubmissionReject>,
): Promise<SubmissionRow> {
  const ctes = sql`with done as (
    update ${task_submissions} s set status = 'rejected', rejection_reason = ${reason}, ${reviewedBy(ctx, principal)}
    where s.id = ${submissionId}::uuid and s.status = 'pending' returning s.*
  ), ${mailed(ctx, "submission_rejected")}`;
  const { submission } = await decide(ctx, submissionId, ctes, sql`null`, lockSubmission(submissionId));
  assertStatus(submission, "rejected");
  return submission;
}

function reviewedBy(ctx: Context, { userId }: SessionPrincipal): SQL {
  return sql`reviewer_id = ${userId}::uuid, reviewed_at = ${ctx.now().toISOString()}::timestamptz`;
}

/** SQL: the part `mailed`: it owes the submitter of the submission `done`, if there is one, the notice of it. */
function mailed(ctx: Context, template: Notice): SQL {
  const id = newId(ctx.now());
  const body = sql`jsonb_build_object('id', ${id}::text, 'template', ${template}::text, 'to', u.email, 'params',
    jsonb_build_object('username', u.username, 'title', s.task -> 'title', 'reason', s.rejection_reason))`;
  return sql`mailed as (${owe("mail", id, body, sql`from done s join ${users} u on u.id = s.submitter_id`)})`;
}

/** Runs the statement of a decision, whose part `done` has the submission where it took effect. Throws 404. */
async function decide(ctx: Context, submissionId: string, ctes: SQL, fit: SQL, lock: SQL): Promise<Outcome> {
  const result = sql`select (select jsonb_build_object('submission', ${submissionJson}, 'messages', ${owed("mailed")},
    'fit', ${fit}) from ${settled(sql`s.id = ${submissionId}::uuid`)}) as result`;
  const outcome = await writeJson<Outcome | null>(ctx, ctes, result, lock);
  if (outcome === null) throw notFound("submission");
  ctx.defer(() => flush(ctx, outcome.messages));
  return outcome;
}

function assertStatus({ status }: SubmissionRow, wanted: SubmissionRow["status"]): void {
  if (status === wanted) return;
  throw new Problem("submission_closed", `This submission is ${status} already, and stays so.`);
}
