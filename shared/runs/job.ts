import * as z from "zod";
import { SealedHeader } from "../agents/auth-header.ts";
import { OUTPUT_FORMATS, PROTOCOLS } from "../db/schema/index.ts";
import { Json } from "./answer.ts";

/** A claimed run with all that is needed to carry it out, as the claiming statement returns it. */
export const Job = z.object({
  run: z.object({
    id: z.string(),
    agent_id: z.string(),
    screening_session_id: z.string().nullable(),
    repeat_index: z.int().nullable(),
    repeat_total: z.int().nullable(),
    attempt: z.int(),
    simulated: z.boolean(),
  }),
  agent: z.object({
    endpoint: z.string().nullable(),
    agent_protocol: z.enum(PROTOCOLS),
    auth_header: SealedHeader.nullable(),
  }),
  task: z.object({
    domain: z.string(),
    prompt: z.string(),
    input: Json,
    output_format: z.enum(OUTPUT_FORMATS),
    output_schema: Json,
    tools: z.array(z.object({ name: z.string(), description: z.string(), parameters: Json })).nullable(),
    /** For simulated runs alone, which answer with it. */
    expected_output: Json,
    time_limit_ms: z.int(),
    reference_cost_usd: z.number(),
    reference_latency_ms: z.number(),
  }),
});
export type Job = z.output<typeof Job>;
