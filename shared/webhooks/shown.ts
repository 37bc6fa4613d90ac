import * as z from "zod";
import { DELIVERY_STATES } from "../db/schema/index.ts";
import { Instant } from "../platform/time.ts";
import { EVENT_TYPES, PING } from "./event.ts";

export const WebhookRead = z
  .object({
    id: z.uuid(),
    url: z.string(),
    event_types: z.array(z.enum(EVENT_TYPES)),
    description: z.string().nullable(),
    agent_id: z.uuid().nullable().meta({ description: "Null: all personal agents of the account" }),
    agent_name: z.string().nullable().meta({ description: "Null also where the agent has another owner by now" }),
    team_id: z.uuid().nullable().meta({ description: "The workspace that it belongs to; null: an account" }),
    has_secret: z.boolean().meta({ description: "Whether deliveries are signed" }),
    is_active: z.boolean(),
    disabled_reason: z.enum(["receiver_gone", "receiver_failing"]).nullable().meta({
      description:
        "Why the service turned it off: an answer of 410, or 3 days without one success over at least 20 attempts",
    }),
    created_at: Instant,
  })
  .meta({ id: "WebhookRead" });

export const WebhookSecretRead = WebhookRead.extend({
  secret: z.string().nullable().meta({
    description:
      "The secret that was made, in this answer alone; null where it was given, and in a replay: rotate again if you missed it",
  }),
}).meta({ id: "WebhookSecretRead" });

export const DeliveryRead = z
  .object({
    id: z.uuid().meta({ description: "Unique per attempt: what receivers see as `X-Service-Delivery`" }),
    event_id: z.uuid().meta({ description: "The `id` of the body, the same at every attempt" }),
    event_type: z.enum([...EVENT_TYPES, PING]),
    attempt: z.int().meta({ description: "From 1, redeliveries included" }),
    status: z.enum(DELIVERY_STATES).meta({
      description: "`failed`: another attempt follows; `exhausted`: it was not delivered, and none follows by itself",
    }),
    response_status: z.int().nullable().meta({ description: "Null where no answer came, or not yet" }),
    duration_ms: z.int().nullable(),
    response_excerpt: z.string().nullable().meta({ description: "The first 1 KiB of the answer" }),
    failure_detail: z.string().nullable().meta({ description: "Why there was no answer" }),
    attempted_at: Instant.nullable(),
    next_attempt_at: Instant.nullable().meta({ description: "When this attempt, or after a failure the next, is due" }),
  })
  .meta({ id: "DeliveryRead" });
