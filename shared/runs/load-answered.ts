import { sql } from "drizzle-orm";
import type { Grader } from "../grading/schema.ts";
import { agents, outbox, run_exchanges, runs, tasks } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { type Collected, collected } from "../telemetry/collect.ts";

/** An answered run with all that grading, pricing and signing look at. */
export interface Answered {
  run: {
    id: string;
    agent_id: string;
    trigger: string;
    simulated: boolean;
    is_private: boolean;
    screening_session_id: string | null;
    repeat_index: number | null;
    repeat_total: number | null;
    started_at: string;
    latency_ms: number | null;
    failure_code: string | null;
  };
  agent: { name: string; connection_mode: string; agent_protocol: string };
  task: {
    id: string;
    domain: string;
    suite_id: string | null;
    suite_version: number | null;
    is_secret: boolean;
    grader: Grader;
    expected_output: unknown;
    output_schema: unknown;
    pass_threshold: number;
    reference_cost_usd: number;
    reference_latency_ms: number;
    expected_tool_calls: number | null;
  };
  /** The answer as JSON text; null where none came. */
  answer: string | null;
  /** SHA-256 over salt and bytes, in hex. */
  commitments: { request: string | null; response: string | null };
  telemetry: Collected;
}

/** Loads a run that waits to be graded, and takes its message out of the outbox; null for a run in any other state. */
export function loadAnswered(ctx: Context, runId: string): Promise<Answered | null> {
  return readJson<Answered>(
    ctx,
    sql`with taken as (delete from ${outbox} where consumer = 'score' and id = ${runId}::uuid)
    select jsonb_build_object(
      'run', jsonb_build_object('id', r.id, 'agent_id', r.agent_id, 'trigger', r.trigger, 'simulated', r.simulated,
        'is_private', r.is_private, 'screening_session_id', r.screening_session_id, 'repeat_index', r.repeat_index,
        'repeat_total', r.repeat_total, 'started_at', r.started_at, 'latency_ms', r.latency_ms, 'failure_code', r.failure_code),
      'agent', jsonb_build_object('name', a.name, 'connection_mode', a.connection_mode, 'agent_protocol', a.agent_protocol),
      'task', jsonb_build_object('id', t.id, 'domain', t.domain, 'suite_id', t.suite_id, 'suite_version', t.suite_version,
        'is_secret', t.is_secret, 'grader', t.grader, 'expected_output', t.expected_output, 'output_schema', t.output_schema,
        'pass_threshold', t.pass_threshold, 'reference_cost_usd', t.reference_cost_usd,
        'reference_latency_ms', t.reference_latency_ms, 'expected_tool_calls', t.expected_tool_calls),
      'answer', e.answer,
      'commitments', jsonb_build_object('request', encode(sha256(e.request_salt || e.request), 'hex'),
        'response', encode(sha256(e.response_salt || e.response), 'hex')),
      'telemetry', ${collected()}
    ) as result
    from ${runs} r join ${agents} a on a.id = r.agent_id join ${tasks} t on t.id = r.task_id
      left join ${run_exchanges} e on e.run_id = r.id
    where r.id = ${runId}::uuid and r.status = 'running' and r.answered_at is not null and r.lease_token is null`,
  );
}
