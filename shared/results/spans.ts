import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { runs, spans } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { Instant } from "../platform/time.ts";
import { mayRun, runsWithAgents, visibleRun } from "../runs/view.ts";

/** A span as it is shown. */
export const SpanRead = z
  .object({
    span_id: z.string().meta({ description: "16 hexadecimal digits" }),
    parent_span_id: z.string().nullable().meta({ description: "The span around it; null where it has none" }),
    kind: z.enum(["model", "tool", "agent", "other"]).meta({ description: "What the call was of, by its attributes" }),
    operation: z.string().nullable().meta({ description: "`gen_ai.operation.name`, where the span has one" }),
    name: z.string().meta({ description: "The tool's, the agent's or the span's name" }),
    provider: z.string().nullable(),
    model: z.string().nullable(),
    input_tokens: z.int().nullable(),
    output_tokens: z.int().nullable(),
    cost_usd: z.number().nullable().meta({ description: "What the agent says that the call cost" }),
    failed: z.boolean().meta({ description: "Whether the agent says that the call failed" }),
    started_at: Instant,
    duration_ms: z.int().meta({ description: "How long it took, in whole milliseconds" }),
  })
  .meta({ id: "SpanRead" });

/** What an agent's telemetry told of one run, in the order in which it began. */
export const RunSpans = z.object({ run_id: z.uuid(), items: z.array(SpanRead) }).meta({ id: "RunSpans" });

/** SQL: the JSON of the span row `s`. */
export const spanJson: SQL = sql`(to_jsonb(s) - '{run_id,agent_id,scope,received_at}'::text[]
  || jsonb_build_object('duration_ms', round(s.duration_ms)))`;

const Found = z.object({ allowed: z.boolean(), spans: RunSpans.nullable() });

/**
 * The spans that are kept of a run, at most 2,000, in the order in which they began, for owner and members; throws 404,
 * and `forbidden` for others who see the run. Spans are kept 30 days.
 */
export async function readSpans(ctx: Context, principal: Principal, runId: string): Promise<z.output<typeof RunSpans>> {
  const viewer = viewerId(principal);
  const found = await read(
    ctx,
    Found,
    sql`select jsonb_build_object('allowed', x.allowed, 'spans', case when x.allowed then
        jsonb_build_object('run_id', r.id, 'items', coalesce((
          select jsonb_agg(${spanJson} order by s.started_at, s.span_id)
          from ${spans} s where s.run_id = r.id), '[]')) end) as result
      from ${runsWithAgents(sql`${runs}`)}
        cross join lateral (select coalesce(${mayRun("see_outputs", viewer)}, false) as allowed) x
      where r.id = ${runId}::uuid and ${visibleRun(viewer)}`,
  );
  if (found === null) throw notFound("run");
  if (found.spans === null)
    throw new Problem(
      "forbidden",
      "Only the agent's owner and the members of its workspace may see the spans of its runs.",
    );
  return found.spans;
}
