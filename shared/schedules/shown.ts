import * as z from "zod";
import { Instant } from "../platform/time.ts";

export const ScheduleRead = z
  .object({
    id: z.uuid(),
    agent_id: z.uuid(),
    agent_name: z.string(),
    may_change: z
      .boolean()
      .meta({ description: "Whether the caller may change and delete it: members who may run the agent" }),
    user_id: z.uuid().meta({ description: "The account in whose name it screens" }),
    suite_id: z.uuid().nullable(),
    task_ids: z.array(z.uuid()).nullable(),
    repeats: z.int(),
    cron: z.string(),
    timezone: z.string(),
    is_active: z.boolean(),
    waits_for_plan: z.boolean().meta({
      description:
        "Whether it is on, but beyond what the plan of the agent's owner allows, of which the oldest are within: it starts " +
        "nothing then, and goes on by itself once there is room for it",
    }),
    next_run_at: Instant.nullable().meta({ description: "Null while it is off" }),
    last_run_at: Instant.nullable().meta({ description: "When it last started a screening" }),
    last_screening_session_id: z.uuid().nullable(),
    last_error: z.string().nullable().meta({
      description: "Why it screened nothing at its last time, or is off; null when all went well",
    }),
    created_at: Instant,
  })
  .meta({ id: "ScheduleRead" });

/** A schedule as it is shown. */
export type Schedule = z.output<typeof ScheduleRead>;
