import * as z from "zod";
import { OUTPUT_FORMATS } from "../../shared/db/schema/index.ts";
import { Instant } from "../../shared/platform/time.ts";
import { CertifyStatusResponse } from "../../shared/certification/shown.ts";
import { ScreeningSessionRead } from "../../shared/runs/sessions-shown.ts";
import { RunRead } from "../../shared/runs/shown.ts";

const event = <T extends string, D extends z.ZodType>(type: T, id: string, data: D) =>
  z
    .object({
      id: z.uuid().meta({
        description:
          "The event's id, the same at every attempt: what to keep off duplicates by. Of two events about one agent's score, " +
          "the later one has the greater id",
      }),
      type: z.literal(type).meta({ description: "What happened" }),
      created_at: Instant.meta({ description: "When it happened" }),
      data: data.meta({ description: "What it happened to" }),
    })
    .meta({ id });

const run = z.object({ run: RunRead.meta({ description: "The run, as anybody who sees it reads it" }) });

/** The body of each event's delivery. */
export const EVENTS = {
  "run.completed": event("run.completed", "RunCompletedEvent", run),
  "run.failed": event("run.failed", "RunFailedEvent", run),
  "agent.score_updated": event(
    "agent.score_updated",
    "ScoreUpdatedEvent",
    z.object({
      agent_id: z.uuid(),
      previous_score: z.number().nullable().meta({ description: "Null before its first score" }),
      score: z.number().nullable().meta({ description: "Null where nothing counts any longer" }),
      run_id: z.uuid().nullable().meta({ description: "The last of the runs that changed it" }),
    }),
  ),
  "regression.detected": event(
    "regression.detected",
    "RegressionDetectedEvent",
    z.object({
      agent_id: z.uuid(),
      screening_session_id: z.uuid(),
      baseline_session_id: z.uuid().meta({ description: "The session before it over the same tasks" }),
      suite_id: z.uuid().nullable(),
      previous_pass_rate: z.number().meta({ description: "The share of runs that passed before" }),
      pass_rate: z.number().meta({ description: "The share of runs that passed now" }),
      p_value: z.number().meta({ description: "Of Fisher's exact test, one-sided" }),
    }),
  ),
  "session.completed": event(
    "session.completed",
    "SessionCompletedEvent",
    z.object({
      agent_id: z.uuid(),
      screening_session_id: z.uuid(),
      suite_id: z.uuid().nullable(),
      trigger: ScreeningSessionRead.shape.trigger,
      status: z.enum(["completed", "cancelled"]).meta({ description: "`cancelled` where it was, or all of its runs" }),
      counts: ScreeningSessionRead.shape.counts
        .pick({ completed: true, failed: true, cancelled: true, passed: true })
        .meta({ description: "Its runs by how they ended, and how many of them passed" }),
    }),
  ),
  "certification.updated": event(
    "certification.updated",
    "CertificationUpdatedEvent",
    CertifyStatusResponse.pick({
      agent_id: true,
      screening_session_id: true,
      paused_reason: true,
      score: true,
      issued_at: true,
      expires_at: true,
      runs_missing: true,
    }).extend({
      certification_id: z.uuid(),
      status: z.enum(["screening", "paused_quota", "certified", "not_certified", "expired", "refunded"]),
    }),
  ),
  "allowance.exhausted": event(
    "allowance.exhausted",
    "AllowanceExhaustedEvent",
    z.object({
      team_id: z.uuid().nullable().meta({ description: "The workspace whose allowance it is; null: the account's" }),
      period: z.string().meta({ description: "The calendar month in UTC, as 2026-11" }),
      limit: z.int().meta({ description: "The runs of the month" }),
      used: z.int().meta({ description: "How many of them are used" }),
      resets_at: Instant.meta({ description: "When the next month's allowance begins" }),
    }),
  ),
  ping: event("ping", "PingEvent", z.object({ webhook_id: z.uuid().meta({ description: "The subscription" }) })),
} as const;

/** What an agent's endpoint is sent, in the native protocol. */
export const AgentRequest = z
  .object({
    protocol: z.string().meta({ description: "The version of the protocol" }),
    run_id: z.uuid(),
    screening_session_id: z.uuid().nullable(),
    repeat_index: z.int(),
    repeat_total: z.int(),
    task: z
      .object({
        domain: z.string(),
        prompt: z.string(),
        input: z.json().optional(),
        output_format: z.enum(OUTPUT_FORMATS),
        output_schema: z.json().optional().meta({ description: "The JSON Schema that a JSON answer has to fit" }),
        tools: z
          .array(z.object({ name: z.string(), description: z.string(), parameters: z.json() }))
          .optional()
          .meta({ description: "The tools that `tool_calls` may name" }),
      })
      .meta({ description: "What is asked" }),
    deadline: Instant.meta({ description: "By when the answer counts, here or by the callback" }),
    callback: z
      .object({
        method: z.literal("PATCH").meta({ description: "The method" }),
        url: z.url().meta({ description: "Where to report, after a 202: `updateRun`" }),
        token: z.string().meta({ description: "Send it as `Authorization: Bearer`" }),
      })
      .meta({ description: "How to answer later" }),
  })
  .meta({ id: "AgentRequest" });

/** What an agent's endpoint answers with 200; unknown fields are ignored, and null but for the output says nothing. */
export const AgentAnswer = z
  .looseObject({
    output: z.json().optional().meta({
      description:
        "Text or JSON, as `output_format` asks; null answers a task whose `output_schema` allows it, and nothing else",
    }),
    refused: z.boolean().nullish().meta({ description: "True to decline" }),
    tool_calls: z
      .array(z.object({ name: z.string(), arguments: z.json() }))
      .nullish()
      .meta({ description: "The tool calls, in order" }),
    usage: z
      .looseObject({
        calls: z
          .array(
            z.looseObject({
              model: z.string(),
              input_tokens: z.int(),
              output_tokens: z.int(),
              cost_usd: z.number().optional().meta({ description: "In US dollars; else it is priced by the model" }),
            }),
          )
          .optional()
          .meta({ description: "Each call of a model" }),
        cost_usd: z.number().optional().meta({ description: "In US dollars, in all" }),
      })
      .nullish()
      .meta({ description: "What it cost" }),
  })
  .meta({ id: "AgentAnswer" });
