import * as z from "zod";
import { approveSubmission, rejectSubmission } from "../../shared/catalogue/submissions/review.ts";
import { assertSubmitter } from "../../shared/catalogue/submissions/right.ts";
import {
  SubmissionStatus,
  TaskSubmissionApprove,
  TaskSubmissionRead,
  TaskSubmissionReject,
} from "../../shared/catalogue/submissions/schemas.ts";
import { withdrawSubmission } from "../../shared/catalogue/submissions/withdraw.ts";
import { listOwnSubmissions, listSubmissions } from "../../shared/catalogue/submissions/list.ts";
import { longPageOf, paged, pageQuery } from "../../shared/http/paging.ts";
import { ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";

const tag = "Task submissions";
const params = z.object({ submission_id: z.uuid() });
const page = longPageOf(TaskSubmissionRead, "TaskSubmissionPage");

export const submissions = [
  route({
    id: "listSubmissions",
    method: "get",
    path: "/api/v1/task-submissions",
    tag,
    summary: "The moderation queue",
    description: "Flagged submissions first, then newest first. Without `status`, submissions of every status.",
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
    summary: "Withdraw a proposal",
    description:
      "For one's own, while it is pending. A submission that has been decided is left unchanged and returned.",
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
      "The task goes to the end of the named suite, or into no suite if none is named. The submitter is notified by " +
      "mail. Approving a submission again changes nothing: no second task is made.",
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
    description: "The submitter gets the reason by mail. A submission that was rejected before keeps its first reason.",
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
