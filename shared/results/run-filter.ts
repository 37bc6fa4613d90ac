import * as z from "zod";
import { TaskDomain } from "../catalogue/domains.ts";
import { FAILURE_CODES } from "../runs/answer.ts";
import { RunStatus, Trigger } from "../runs/shown.ts";

const moment = z.iso.datetime({ offset: true }).optional();

/** The parameters that narrow a list of runs; they may be combined freely, but for those that say whose runs it shows. */
export const runFilter = z.object({
  agent_id: z.uuid().optional(),
  task_id: z.uuid().optional(),
  screening_session_id: z.uuid().optional().meta({ description: "404 unless the caller may see the session" }),
  suite_id: z.uuid().optional().meta({ description: "The suite of the task, however the run was asked for" }),
  domain: TaskDomain.optional().meta({ description: "The domain of the task" }),
  status: RunStatus.optional(),
  trigger: Trigger.optional(),
  passed: z.stringbool().optional().meta({ description: "Neither value finds a run that was not judged yet" }),
  failure_code: z.enum(FAILURE_CODES).optional(),
  created_after: moment.meta({ description: "Made at this moment or later" }),
  created_before: moment.meta({ description: "Made before this moment" }),
  scope: z.literal("personal").optional(),
  team_id: z.uuid().optional(),
  mine: z.stringbool().default(false),
});

/** What the runs of one session can be ordered by: there are a few thousand of them at most. */
const OF_SESSION = ["latency_ms", "evidence_cost_usd", "correctness"] as const;

/** In which order a list shows runs. */
export const runSort = z
  .enum(["-created_at", "created_at", ...OF_SESSION.flatMap((column) => [column, `-${column}`] as const)])
  .default("-created_at")
  .meta({
    description:
      "`-` for the largest first. All but the time need `screening_session_id`, and put runs without a value last",
  });
export type RunSort = z.output<typeof runSort>;

/** Which runs a list shows. */
export type RunFilter = z.output<typeof runFilter>;
