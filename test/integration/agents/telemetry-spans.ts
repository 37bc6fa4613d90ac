import type { Span } from "../../../shared/telemetry/trace.ts";
import type { TestService } from "../../stack/service.ts";

/** A span as an agent sends it. */
export type Sent = Span;

let ids = 0;

/** A span with an id of its own, called by the agent itself unless it names a parent. */
export function agentSpan(fields: Pick<Sent, "kind" | "name"> & Partial<Sent>): Sent {
  ids += 1;
  return {
    span_id: ids.toString(16).padStart(16, "0"),
    parent_span_id: null,
    scope: null,
    provider: null,
    model: null,
    input_tokens: null,
    output_tokens: null,
    cost_usd: null,
    started_at: 1_764_000_000,
    duration_ms: 1,
    ...fields,
  };
}

/** Puts spans where the receiver keeps those of a run. */
export async function storeSpans(service: TestService, runId: string, spans: readonly Sent[]): Promise<void> {
  await service.sql(
    `insert into spans (run_id, agent_id, span_id, parent_span_id, kind, scope, name, provider, model, input_tokens,
       output_tokens, cost_usd, started_at, duration_ms)
     select r.id, r.agent_id, s.span_id, s.parent_span_id, s.kind, s.scope, s.name, s.provider, s.model, s.input_tokens,
       s.output_tokens, s.cost_usd, now(), 1
     from runs r cross join jsonb_to_recordset($2::jsonb) as s(span_id text, parent_span_id text, kind text, scope text, name text,
       provider text, model text, input_tokens integer, output_tokens integer, cost_usd double precision)
     where r.id = $1 on conflict do nothing`,
    [runId, JSON.stringify(spans)],
  );
}
