import * as z from "zod";
import { approveSubmission, rejectSubmission } from "../../shared/catalogue/submissions/review.ts";
import { assertSubmitter } from "../../shared/catalogue/submissions/right.ts";
import {
  SubmissionStatus,
  TaskSubmissionApprove,
  TaskSubmissionCreate,
  TaskSubmissionRead,
  TaskSubmissionReject,
} from "../../shared/catalogue/submissions/schemas.ts";
import { withdrawSubmission } from "../../shared/catalogue/submissions/withdraw.ts";
import { listOwnSubmissions, listSubmissions } from "../../shared/catalogue/submissions/list.ts";
import { MAX_PENDING, submitTask } from "../../shared/catalogue/submissions/submit.ts";
import { pageOf, paged, pageQuery } from "../../shared/http/paging.ts";
import { created, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

const tag = "Task submissions";
const params = z.object({ submission_id: z.uuid() });
const page = pageOf(TaskSubmissionRead, "TaskSubmissionPage");

export const submissions = [
  route({
    id: "submitTask",
    method: "post",
    path: "/api/v1/task-submissions",
    tag,
    summary: "Propose a benchmark task",
    description:
      "It waits for an operator's review; nothing of it runs before. It must be gradable as a task must. " +
      `At most ${MAX_PENDING} of an account may wait at once.`,
    auth: "session",
    body: TaskSubmissionCreate,
    returns: { 201: TaskSubmissionRead },
    problems: ["quota_exceeded"],
    idempotent: true,
    async handler({ ctx, principal, body }) {
      return created(await submitTask(ctx, principal, body));
    },
  }),
  route({
    id: "listSubmissions",
    method: "get",
    path: "/api/v1/task-submissions",
    tag,
    summary: "The moderation queue",
    description: "Flagged ones first, then the newest. Without `status`, those of every status.",
    auth: "admin",
    query: pageQuery.extend({ status: SubmissionStatus.optional() }),
    returns: { 200: page },
    async handler({ ctx, query }) {
      return ok(paged(await listSubmissions(ctx, query), query));
    },
  }),
  route({
    id: "listOwnSubmissions",
    method: "get",
    path: "/api/v1/task-submissions/mine",
    tag,
    summary: "Own proposals, newest first",
    auth: "session",
    query: pageQuery,
    returns: { 200: page },
    async handler({ ctx, principal, query }) {
      return ok(paged(await listOwnSubmissions(ctx, principal, query), query));
    },
  }),
  route({
    id: "withdrawSubmission",
    method: "post",
    path: "/api/v1/task-submissions/{submission_id}/withdraw",
    tag,
    summary: "Take an own proposal back",
    description: "While it is pending. One that is decided already stays as it is, and is the answer.",
    auth: "session",
    params,
    right: ({ ctx, principal, params: { submission_id } }) => assertSubmitter(ctx, principal, submission_id),
    returns: { 200: TaskSubmissionRead },
    problems: ["not_found"],
    async handler({ ctx, principal, params: { submission_id } }) {
      return ok(await withdrawSubmission(ctx, principal, submission_id));
    },
  }),
  route({
    id: "approveSubmission",
    method: "post",
    path: "/api/v1/task-submissions/{submission_id}/approve",
    tag,
    summary: "Make a proposal a task",
    description:
      "At the end of the suite that is named, else in none. Its submitter is told by mail. An approved one stays as it " +
      "is: no second task is made.",
    auth: "admin",
    params,
    body: TaskSubmissionApprove,
    returns: { 200: TaskSubmissionRead },
    problems: ["not_found", "submission_closed", "conflicting_parameters"],
    async handler({ ctx, principal, params: { submission_id }, body }) {
      return ok(await approveSubmission(ctx, principal, submission_id, body));
    },
  }),
  route({
    id: "rejectSubmission",
    method: "post",
    path: "/api/v1/task-submissions/{submission_id}/reject",
    tag,
    summary: "Close a proposal with a reason",
    description: "Its submitter is told the reason by mail. A rejected one keeps its first reason.",
    auth: "admin",
    params,
    body: TaskSubmissionReject,
    returns: { 200: TaskSubmissionRead },
    problems: ["not_found", "submission_closed"],
    async handler({ ctx, principal, params: { submission_id }, body }) {
      return ok(await rejectSubmission(ctx, principal, submission_id, body));
    },
  }),
];
