import * as z from "zod";
import { CONNECTION_MODES, PROTOCOLS, REGISTRY_STATES, VERIFIED_STATES } from "../db/schema/index.ts";
import { Instant } from "../platform/time.ts";
import { Memorisation } from "./memorisation.ts";
import { SCORE_BASES } from "./score-bases.ts";

export const ConnectionMode = z.enum(CONNECTION_MODES);
export const Protocol = z.enum(PROTOCOLS);

const score = z.number().min(0).max(100);
const place = z.int().min(1).nullable();

export const AgentRead = z
  .object({
    id: z.uuid(),
    name: z.string(),
    description: z.string(),
    has_endpoint: z.boolean().meta({ description: "Whether it can be run live now" }),
    connection_retired: z.boolean(),
    agent_protocol: Protocol,
    allow_trial: z.boolean(),
    publish_answers: z
      .boolean()
      .meta({ description: "Whether the answers of runs that are submitted now become public" }),
    verified_state: z
      .enum(VERIFIED_STATES)
      .meta({ description: "`verified` by a signed, completed real run, private ones among them" }),
    registry_status: z.enum(REGISTRY_STATES),
    is_public: z.boolean(),
    is_active: z.boolean(),
    variant_of: z.uuid().nullable(),
    composite_score: score.meta({ description: "0 to 100; 0 with the interval 0 to 100 until a run counts" }),
    score_low: score.meta({ description: "Lower end of the 95% interval, clustered by task" }),
    score_high: score,
    score_basis: z.enum(SCORE_BASES).nullable().meta({ description: "Null until a run counts" }),
    simulated: z.boolean().meta({ description: "The score comes from simulated runs" }),
    rank: place.meta({ description: "Its place on the public board; null unless it is ranked there" }),
    rank_low: place.meta({ description: "The first place that its interval does not rule out" }),
    rank_high: place.meta({ description: "The last place that its interval does not rule out" }),
    ...Memorisation.shape,
    uneven: z.boolean().meta({
      description: "It was asked some core tasks more often than others, which keeps good luck: as on the board",
    }),
    created_at: Instant,
    updated_at: Instant,
    connection_mode: ConnectionMode.optional().meta({
      description: "Owner or workspace member only, as all that follow",
    }),
    endpoint: z.string().nullable().optional(),
    auth_header_name: z.string().nullable().optional().meta({
      description: "The name of the header that is sent to the endpoint; its value is shown nowhere",
    }),
    manifest_url: z.string().nullable().optional(),
    provider_url: z.string().nullable().optional(),
    daemon_last_seen_at: Instant.nullable().optional(),
    customer_llm_provider: z.string().nullable().optional(),
    user_id: z.uuid().optional(),
    team_id: z.uuid().nullable().optional(),
    has_otlp_token: z.boolean().optional(),
    workspace_activity: z
      .object({
        runs_30d: z.int(),
        last_run_at: Instant.nullable(),
        active_members_30d: z.int().meta({ description: "Members who asked for at least one of these runs" }),
      })
      .nullable()
      .optional()
      .meta({
        description:
          "Of the runs that the workspace paid for, today and on the 29 days before by UTC; null for a personal agent",
      }),
    declared_configuration: z.record(z.string(), z.json()).nullable().optional(),
  })
  .meta({ id: "AgentRead" });
