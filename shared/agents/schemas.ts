import * as z from "zod";
import { atMost } from "../platform/json-size.ts";
import { line } from "../platform/line.ts";
import { Instant } from "../platform/time.ts";
import { AuthHeader } from "./auth-header.ts";
import { ConnectionMode, Protocol } from "./shown.ts";

const name = line(120);
const description = z.string().max(2000);
const url = z.string().max(2048);
const declared = z
  .record(z.string(), z.json())
  .check(atMost(64))
  .meta({ description: "What its owner says that it is made of, at most 64 KiB of JSON" });

export const AgentCreate = z
  .strictObject({
    name,
    description: description.optional(),
    connection_mode: ConnectionMode.optional().meta({
      description: "Default `http_endpoint` with an endpoint, else `mock`. The retired modes are refused with 410.",
    }),
    endpoint: url.optional().meta({ description: "The https URL that the service calls" }),
    agent_protocol: Protocol.optional().meta({
      description:
        "What the endpoint speaks; default `native`, one JSON request answered by `{output, refused?, tool_calls?, usage?}` " +
        "or, with 202, by callback. `openai_chat`, chat completions of the model `default`: the prompt, then the input as " +
        "JSON, is the one user message; tools are functions, and the message says that their calls bring no result back; of a " +
        "JSON task it says so at its end, with the schema, which is the `response_format`, too, if its root is an object " +
        "and its keywords are ones that servers take. Content, refusal and tool calls of the first choice are the answer, `usage` and `model` its cost. `a2a`, Agent2Agent 0.3 over JSON-RPC: `message/send` with " +
        "the prompt as a text part, the input as a data part, and `{output_format, output_schema, tools}` as the last one; " +
        "a server that refuses these by an error is sent the texts alone; the answer is a message, or a task that is polled by `tasks/get`, in its artifacts, else in what it said last: " +
        "text parts or, for a JSON task, data parts; `usage`, `refused` and `tool_calls` stand in its metadata. `a2a_1`, " +
        "the same by Agent2Agent 1.0: `SendMessage` and `GetTask`, with the " +
        "header `A2A-Version: 1.0`.",
    }),
    auth_header: AuthHeader.optional().meta({
      description:
        "What the endpoint knows its callers by, beside the signature; sent to the endpoint alone, in runs and checks. " +
        "An endpoint at another origin needs it given anew, or null.",
    }),
    is_public: z.boolean().optional().meta({ description: "Default true" }),
    allow_trial: z.boolean().optional().meta({ description: "Whether strangers may run it; default false" }),
    variant_of: z.uuid().optional().meta({ description: "Root of the variant group: an own agent that is no variant" }),
    provider_url: url.optional(),
    manifest_url: url.optional(),
    team_id: z.uuid().optional(),
    declared_configuration: declared.optional(),
  })
  .meta({ id: "AgentCreate" });

export const AgentUpdate = z
  .strictObject({
    ...AgentCreate.omit({ team_id: true }).partial().shape,
    endpoint: url.nullable().optional(),
    auth_header: AuthHeader.nullable().optional().meta({ description: "As for a new agent; null takes it away" }),
    variant_of: z.uuid().nullable().optional(),
    provider_url: url.nullable().optional(),
    manifest_url: url.nullable().optional(),
    declared_configuration: declared.nullable().optional(),
    is_active: z.boolean().optional(),
    publish_answers: z
      .boolean()
      .optional()
      .meta({
        description:
          "Whether what goes over the wire in its counted runs of minted tasks becomes public (GET /api/v1/runs/{run_id}/output) " +
          "once their epoch is revealed, so that outsiders can grade them again; default false. It holds for the runs that are " +
          "submitted while it is set, and for these it can't be taken back.",
      }),
    clear_customer_llm_key: z.boolean().optional().meta({
      description: "Gives up a retired mode; needed before an agent of one can be connected again",
    }),
  })
  .meta({ id: "AgentUpdate" });

export const AgentBulkCreate = z
  .strictObject({
    rows: z
      .array(z.unknown().meta({ $ref: "#/components/schemas/AgentCreate" }))
      .min(1)
      .max(100)
      .meta({ description: "Each is judged on its own: a row that is no AgentCreate is `invalid`, no 422" }),
  })
  .meta({ id: "AgentBulkCreate" });

/** What is wrong with a row, as a 422 would say it. */
export const RowFinding = z.object({
  in: z.enum(["body", "query", "path", "header"]),
  pointer: z.string().meta({ description: "RFC 6901 JSON pointer into the row" }),
  code: z.string(),
  message: z.string(),
});

export const AgentBulkResult = z
  .object({
    results: z.array(
      z.object({
        index: z.int().meta({ description: "Of the row, from 0" }),
        status: z.enum(["created", "skipped_duplicate", "invalid", "quota_exceeded"]),
        agent_id: z.uuid().optional().meta({ description: "Of what was created" }),
        errors: z.array(RowFinding).optional().meta({ description: "Why it is invalid, as in a 422" }),
      }),
    ),
    created: z.int(),
    skipped: z.int(),
    failed: z.int().meta({ description: "Rows that are `invalid` or `quota_exceeded`" }),
  })
  .meta({ id: "AgentBulkResult" });

export const AgentTransferToWorkspace = z.strictObject({ team_id: z.uuid() }).meta({ id: "AgentTransferToWorkspace" });

export const AgentOtlpTokenResponse = z
  .object({
    token: z.string().nullable().meta({ description: "In the first answer alone; null in a replay" }),
    prefix: z.string(),
    endpoint: z.string().meta({ description: "OTLP base URL: exporters add `/v1/traces`" }),
    created_at: Instant,
    headers: z
      .object({ Authorization: z.string() })
      .nullable()
      .meta({ description: "What the exporter has to send; null in a replay" }),
  })
  .meta({ id: "AgentOtlpTokenResponse" });

export const AgentScrubResult = z
  .object({ updated: z.int(), names: z.array(z.string()) })
  .meta({ id: "AgentScrubResult" });
