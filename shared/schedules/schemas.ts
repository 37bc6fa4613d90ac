import * as z from "zod";
import { LIMITS } from "../runs/limits.ts";
import { oneChoiceOfTasks } from "../runs/schemas.ts";

const suiteId = z
  .uuid()
  .optional()
  .meta({ description: "The tasks that are active in this public suite at each time" });
const taskIds = z.array(z.uuid()).min(1).max(LIMITS.tasksPerBatch).optional().meta({
  description: "Exactly these tasks, in this order",
});

const repeats = z.int().min(1).max(LIMITS.repeats);

const cron = z
  .string()
  .trim()
  .max(200)
  .regex(/^[0-9A-Za-z*/,?#+@ -]+$/, 'Send a cron expression of five fields, such as "0 9 * * 1-5".')
  .meta({
    description:
      "Minute, hour, day of the month, month, weekday; names (`MON`, `JAN`), ranges, lists, steps, `L`, `W`, `#`, and " +
      "`@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. Days that are given both ways fire on either",
    example: "0 9 * * 1-5",
  });
const timezone = z
  .string()
  .max(64)
  .regex(/^[A-Za-z][A-Za-z0-9_+/-]*$/, "Name an IANA time zone, such as Europe/Berlin or UTC.")
  .meta({ description: "IANA time zone whose clocks it goes by", example: "Europe/Berlin" });

export const ScheduleCreate = z
  .strictObject({
    agent_id: z.uuid(),
    suite_id: suiteId,
    task_ids: taskIds,
    repeats: repeats.default(1),
    cron,
    timezone: timezone.default("UTC"),
    is_active: z.boolean().default(true),
  })
  .superRefine((body, context) => {
    oneChoiceOfTasks(body, context);
    if (body.suite_id === undefined && body.task_ids === undefined) {
      context.addIssue({
        code: "custom",
        path: ["suite_id"],
        message: "Say what to run: send suite_id or task_ids.",
        params: { code: "missing_field" },
      });
    }
  })
  .meta({ id: "ScheduleCreate" });

export const ScheduleUpdate = z
  .strictObject({
    suite_id: suiteId,
    task_ids: taskIds,
    repeats: repeats.optional(),
    cron: cron.optional(),
    timezone: timezone.optional(),
    is_active: z.boolean().optional().meta({
      description: "True turns it on again, in the caller's name, and forgets `last_error`",
    }),
  })
  .superRefine(oneChoiceOfTasks)
  .meta({ id: "ScheduleUpdate" });
