import * as z from "zod";
import { Instant } from "../platform/time.ts";

const EndpointState = z.enum(["ready", "failing", "unchecked", "not_applicable"]);
const TelemetryState = z.enum(["receiving", "waiting", "not_configured"]);

export const AgentReadiness = z
  .object({
    agent_id: z.uuid(),
    endpoint: z
      .object({
        state: EndpointState.meta({ description: "`not_applicable` where no endpoint is called, `mock` for one" }),
        checked_at: Instant.nullable(),
        valid_until: Instant.nullable().meta({ description: "One hour after `checked_at`; then `unchecked` again" }),
        latency_ms: z.int().nullable(),
        failure_code: z.string().nullable().meta({ description: "In the words of a run's failures" }),
        detail: z
          .string()
          .nullable()
          .meta({
            description:
              "What happened and what mends it, in the answer of a check that failed alone, else null; nothing of the agent's " +
              "answer is quoted",
          }),
      })
      .meta({ description: "From the newer of the last check and the last real run: evidence of that moment alone" }),
    telemetry: z
      .object({
        state: TelemetryState.meta({
          description: "`receiving` within 24 hours of the last spans, `waiting` with a credential and none since",
        }),
        last_received_at: Instant.nullable(),
      })
      .meta({ description: "Never needed for a screening" }),
  })
  .meta({ id: "AgentReadiness" });
