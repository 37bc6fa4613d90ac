import * as z from "zod";
import { Instant } from "../platform/time.ts";
import { Trigger } from "./shown.ts";

const count = z.int();

export const ScreeningSessionRead = z
  .object({
    id: z.uuid(),
    agent_id: z.uuid(),
    trigger: Trigger,
    status: z.enum(["queued", "running", "completed", "cancelled"]).meta({
      description:
        "`cancelled`: all of its runs were, or the session was while some were queued, and the rest is final",
    }),
    task_plan: z.array(z.object({ task_id: z.uuid(), suite_version: z.int(), position: z.int() })),
    repeats: z.int(),
    run_ids: z.array(z.uuid()),
    counts: z.object({
      queued: count,
      running: count,
      completed: count,
      failed: count,
      cancelled: count,
      passed: count,
    }),
    suite_id: z.uuid().nullable(),
    simulated: z.boolean().meta({ description: "Its runs are simulated: no agent was called" }),
    is_private: z.boolean().meta({ description: "Its runs are private" }),
    canaries: z.object({ runs: count, passed: count }).nullable().meta({
      description: "How many of its runs were canaries, and how many of those passed; null until it is final",
    }),
    composite_score: z.number().min(0).max(100).nullable().meta({
      description:
        "What scoring gives for these runs alone, each task with all of its repeats. It is not the agent's score, which takes the latest counted runs of each task; private runs count here, canaries, cancelled runs and those that failed by our fault do not. Null until it is final, or without a run that counts",
    }),
    evidence_cost_usd: z.number().nullable().meta({
      description:
        "What is known of the cost of its runs, canaries among them; null until it is final, or where nothing is known",
    }),
    priced_runs: count.nullable().meta({
      description:
        "Of how many of its runs the whole cost is known; the others' is missing in it; null until it is final",
    }),
    duration_ms: count.nullable().meta({
      description: "From the first run that was taken up to the last one that became final; null until then",
    }),
    created_at: Instant,
    started_at: Instant.nullable(),
    finished_at: Instant.nullable(),
  })
  .meta({ id: "ScreeningSessionRead" });
