import * as z from "zod";
import { Instant } from "../platform/time.ts";

/** Modes under which the service once kept provider credentials. */
export const RETIRED_MODES = ["customer_llm", "provider_assistant"] as const;

const ConnectionMode = z.enum(["http_endpoint", "mock", ...RETIRED_MODES]);
const Protocol = z.enum(["native", "openai_chat", "a2a"]);
const name = z.string().trim().min(1).max(120);
const description = z.string().max(2000);
const url = z.string().max(2048);

export const AgentCreate = z
  .strictObject({
    name,
    description: description.optional(),
    connection_mode: ConnectionMode.optional().meta({
      description: "Default `http_endpoint` with an endpoint, else `mock`. The retired modes are refused with 410.",
    }),
    endpoint: url.optional().meta({ description: "The https URL that the service calls" }),
    agent_protocol: Protocol.optional().meta({ description: "What the endpoint speaks; default `native`" }),
    is_public: z.boolean().optional().meta({ description: "Default true" }),
    allow_trial: z.boolean().optional().meta({ description: "Whether strangers may run it; default false" }),
    variant_of: z.uuid().optional().meta({ description: "Root of the variant group: an own agent that is no variant" }),
    provider_url: url.optional(),
    manifest_url: url.optional(),
    team_id: z.uuid().optional(),
    declared_configuration: z.record(z.string(), z.json()).optional(),
  })
  .meta({ id: "AgentCreate" });

export const AgentUpdate = z
  .strictObject({
    ...AgentCreate.omit({ team_id: true }).partial().shape,
    endpoint: url.nullable().optional(),
    variant_of: z.uuid().nullable().optional(),
    provider_url: url.nullable().optional(),
    manifest_url: url.nullable().optional(),
    declared_configuration: z.record(z.string(), z.json()).nullable().optional(),
    is_active: z.boolean().optional(),
    clear_customer_llm_key: z.boolean().optional().meta({
      description: "Gives up a retired mode; needed before an agent of one can be connected again",
    }),
  })
  .meta({ id: "AgentUpdate" });

const score = z.number().min(0).max(100);

export const AgentRead = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string(),
    has_endpoint: z.boolean().meta({ description: "Whether it can be run live now" }),
    connection_retired: z.boolean(),
    agent_protocol: Protocol,
    allow_trial: z.boolean(),
    verified_state: z.enum(["unverified", "verified", "certified"]),
    registry_status: z.enum(["unregistered", "registered", "stale"]),
    is_public: z.boolean(),
    is_active: z.boolean(),
    variant_of: z.uuid().nullable(),
    composite_score: score.meta({ description: "0 to 100; 0 with the interval 0 to 100 until a run counts" }),
    score_low: score.meta({ description: "Lower end of the 95% interval, clustered by task" }),
    score_high: score,
    score_basis: z.enum(["core", "provisional"]).nullable().meta({ description: "Null until a run counts" }),
    simulated: z.boolean().meta({ description: "The score comes from simulated runs" }),
    created_at: Instant,
    updated_at: Instant,
    connection_mode: ConnectionMode.optional().meta({
      description: "Owner or workspace member only, as all that follow",
    }),
    endpoint: z.string().nullable().optional(),
    manifest_url: z.string().nullable().optional(),
    provider_url: z.string().nullable().optional(),
    daemon_last_seen_at: Instant.nullable().optional(),
    customer_llm_provider: z.string().nullable().optional(),
    user_id: z.uuid().optional(),
    team_id: z.uuid().nullable().optional(),
    declared_configuration: z.record(z.string(), z.json()).nullable().optional(),
  })
  .meta({ id: "AgentRead" });
