import * as z from "zod";
import { Instant } from "../platform/time.ts";

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
        sequence: z.int(),
        phase: z.enum(PHASES),
        outcome: PhaseOutcome,
        occurred_at: Instant,
        duration_ms: z.int().nullable(),
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
    template: z.object({ id: z.string(), version: z.int() }),
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
