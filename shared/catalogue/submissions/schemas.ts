import * as z from "zod";
import { SUBMISSION_STATES } from "../../db/schema/index.ts";
import { Instant } from "../../platform/time.ts";
import { content, references, TaskAdminRead } from "../create-task-schemas.ts";
import { FLAGS } from "./flags.ts";

/** The states of a proposed task. */
export const SubmissionStatus = z.enum(SUBMISSION_STATES).meta({ id: "TaskSubmissionStatus" });

export const TaskSubmissionRead = TaskAdminRead.pick({
  title: true,
  domain: true,
  prompt: true,
  input: true,
  output_format: true,
  output_schema: true,
  tools: true,
  expected_tool_calls: true,
  time_limit_ms: true,
  pass_threshold: true,
})
  .extend({
    id: z.uuid(),
    status: SubmissionStatus,
    flagged: z.boolean(),
    flags: z.array(z.enum(FLAGS)).meta({
      description:
        "Rules that it met, for the reviewer to look at: `near_duplicate` of an active public task (runs of five " +
        "words, Jaccard similarity from 0.8), `key_in_prompt`, " +
        "`asks_for_credentials`, `contains_url`",
    }),
    grader: content.grader,
    expected_output: z.json(),
    rationale: z.string().nullable(),
    submitter_id: z.uuid(),
    rejection_reason: z.string().nullable(),
    task_id: z.uuid().nullable().meta({ description: "The task that it became" }),
    created_at: Instant,
    reviewed_at: Instant.nullable(),
  })
  .meta({ id: "TaskSubmissionRead" });

export const TaskSubmissionApprove = z
  .strictObject({
    suite_id: references.suite_id,
    is_secret: references.is_secret,
    time_limit_ms: z.int().min(1000).max(120_000).optional().meta({ description: "In place of the submission's" }),
    reference_cost_usd: references.reference_cost_usd,
  })
  .meta({ id: "TaskSubmissionApprove" });

export const TaskSubmissionReject = z
  .strictObject({
    reason: z.string().trim().min(1).max(1000).meta({ description: "Told to the submitter, by mail too" }),
  })
  .meta({ id: "TaskSubmissionReject" });
