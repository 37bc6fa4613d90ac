import * as z from "zod";
import { Instant } from "../platform/time.ts";
import { LIMITS } from "./limits.ts";
import { RunStatus } from "./shown.ts";

const isPrivate = z.boolean().default(false).meta({
  description: "Seen by the owner and members alone, and moves no public number; only they can ask for it",
});

export const RunCreate = z
  .strictObject({ agent_id: z.uuid(), task_id: z.uuid(), private: isPrivate })
  .meta({ id: "RunCreate" });

/** Refuses a body that names both a suite and tasks, or one task twice. */
export function oneChoiceOfTasks(
  body: { suite_id?: string | undefined; task_ids?: string[] | undefined },
  context: z.RefinementCtx,
): void {
  if (body.suite_id !== undefined && body.task_ids !== undefined) {
    for (const field of ["suite_id", "task_ids"]) {
      context.addIssue({
        code: "custom",
        path: [field],
        message: "suite_id and task_ids exclude each other; send one of them.",
        params: { code: "conflicting_parameters" },
      });
    }
  }
  if (new Set(body.task_ids?.map((id) => id.toLowerCase())).size !== (body.task_ids?.length ?? 0)) {
    context.addIssue({
      code: "custom",
      path: ["task_ids"],
      message: "Name each task once.",
      params: { code: "not_unique" },
    });
  }
}

export const BatchCreate = z
  .strictObject({
    agent_id: z.uuid(),
    suite_id: z.uuid().optional().meta({ description: "All active tasks of a public suite, in its order" }),
    task_ids: z
      .array(z.uuid())
      .max(LIMITS.tasksPerBatch)
      .optional()
      .meta({ description: "Exactly these tasks; without them and without suite_id, the first 100 of the catalogue" }),
    repeats: z.int().min(1).max(LIMITS.repeats).default(1),
    private: isPrivate,
  })
  .superRefine(oneChoiceOfTasks)
  .meta({ id: "BatchCreate" });

export const RunCreateRead = z
  .object({
    id: z.uuid(),
    agent_id: z.uuid(),
    task_id: z.uuid(),
    status: RunStatus,
    screening_session_id: z.uuid().nullable(),
    created_at: Instant,
  })
  .meta({ id: "RunCreateRead" });

export const RunUpdate = z
  .strictObject({
    status: z.enum(["running", "completed", "failed"]),
    output: z.json().optional(),
    tool_calls: z
      .array(z.strictObject({ name: z.string().max(200), arguments: z.json() }))
      .max(1000)
      .nullish(),
    error: z.string().max(2000).nullish(),
    usage: z
      .json()
      .optional()
      .meta({ description: "`{calls: [{model, input_tokens, output_tokens, cost_usd?}], cost_usd?}`" }),
    serving_model: z.string().max(200).nullish(),
    input_tokens: z.int().min(0).nullish(),
    output_tokens: z.int().min(0).nullish(),
  })
  .meta({ id: "RunUpdate", description: "Null but for the output says the same as a member that is left out" });
