import * as z from "zod";
import { Instant } from "../platform/time.ts";
import { RepeatsEstimate } from "./estimate.ts";
import { LIMITS } from "./limits.ts";
import { RunStatus, Trigger } from "./shown.ts";

const isPrivate = z.boolean().default(false).meta({
  description: "Seen by the owner and members alone, and moves no public number",
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
    repeats: z.number().int().min(1).max(LIMITS.repeats).default(1),
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

export const PHASES = [
  "dispatched",
  "agent_responding",
  "response_received",
  "output_evaluated",
  "telemetry_collected",
  "architecture_hashed",
  "architecture_compared",
  "scored",
  "evidence_signed",
] as const;

export const PhaseOutcome = z.enum(["started", "succeeded", "failed", "unavailable", "not_applicable"]);

export const RunPhases = z
  .object({
    run_id: z.uuid(),
    items: z.array(
      z.object({
        sequence: z.number().int(),
        phase: z.enum(PHASES),
        outcome: PhaseOutcome,
        occurred_at: Instant,
        duration_ms: z.number().int().nullable(),
        metadata: z.record(z.string(), z.json()).meta({
          description:
            "Of `telemetry_collected`: `spans`. Of `architecture_hashed`: `architecture_hash`, of what this run showed. Of `architecture_compared`: `version` and whether it is new by this run, `changed`; numbered over public runs for a public run, over all runs for a private one",
        }),
      }),
    ),
  })
  .meta({ id: "RunPhases" });

const Committed = z.object({ body_base64: z.string(), salt: z.string() }).nullable();

/** What one run was asked; its RFC 8785 form is what the commitment in the evidence is to. */
const InstanceRead = z
  .object({
    template: z.object({ id: z.string(), version: z.number().int() }),
    prompt: z.string(),
    input: z.json().nullable(),
    output_format: z.enum(["text", "json", "tool_calls"]),
    output_schema: z.json().nullable(),
    tools: z.array(z.object({ name: z.string(), description: z.string(), parameters: z.json() })).nullable(),
    world: z.null(),
    grader: z.json(),
    expected_output: z.json().nullable(),
  })
  .meta({ id: "InstanceRead" });

export const RunOutput = z
  .object({
    run_id: z.uuid(),
    output: z.json().nullable(),
    explanation: z.string().nullable(),
    request: Committed.meta({ description: "Null for a run of a secret task" }),
    response: Committed,
    instance: InstanceRead.nullable().meta({
      description:
        "What a run of a minted task was asked, and what would have been right: it never comes again. Null until the run " +
        "and its session are final, for a canary, for a task with a fixed text, for a secret one, and once the template has another version.",
    }),
  })
  .meta({ id: "RunOutput" });

const count = z.number().int();

export const ScreeningSessionRead = z
  .object({
    id: z.uuid(),
    agent_id: z.uuid(),
    trigger: Trigger,
    status: z.enum(["queued", "running", "completed", "cancelled"]).meta({
      description:
        "`cancelled`: all of its runs were, or the session was while some were queued, and the rest is final",
    }),
    task_plan: z.array(z.object({ task_id: z.uuid(), suite_version: z.number().int(), position: z.number().int() })),
    repeats: z.number().int(),
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
    duration_ms: count.nullable().meta({
      description: "From the first run that was taken up to the last one that became final; null until then",
    }),
    created_at: Instant,
    started_at: Instant.nullable(),
    finished_at: Instant.nullable(),
  })
  .meta({ id: "ScreeningSessionRead" });

export const ScreeningPreflightRead = z
  .object({
    max_tasks_per_batch: count,
    max_repeats: count,
    max_runs_per_batch: count,
    max_concurrency_per_agent: count,
    max_task_time_limit_ms: count,
    max_response_bytes: count,
    active_tasks: count,
    estimated_max_duration_ms: count.meta({
      description: "The longest that a batch over all active tasks (at most 100), once each, can take",
    }),
    repeats_estimate: RepeatsEstimate.nullable().meta({ description: "Null without `width`" }),
  })
  .meta({ id: "ScreeningPreflightRead" });

export const RunUpdate = z
  .strictObject({
    status: z.enum(["running", "completed", "failed"]),
    output: z.json().optional(),
    tool_calls: z
      .array(z.strictObject({ name: z.string().max(200), arguments: z.json() }))
      .max(1000)
      .optional(),
    error: z.string().max(2000).optional(),
    usage: z
      .json()
      .optional()
      .meta({ description: "`{calls: [{model, input_tokens, output_tokens, cost_usd?}], cost_usd?}`" }),
    serving_model: z.string().max(200).optional(),
    input_tokens: z.number().int().min(0).optional(),
    output_tokens: z.number().int().min(0).optional(),
  })
  .meta({ id: "RunUpdate" });
