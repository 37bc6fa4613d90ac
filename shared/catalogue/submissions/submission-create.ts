import * as z from "zod";
import { content } from "../create-task-schemas.ts";
import { fits } from "../task-create.ts";

export const TaskSubmissionCreate = z
  .strictObject({
    ...content,
    rationale: z.string().max(2000).nullable().default(null).meta({ description: "Why it is worth having" }),
  })
  .superRefine(fits)
  .meta({ id: "TaskSubmissionCreate" });
