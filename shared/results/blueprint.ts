import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/conditions.ts";
import { read } from "../db/change.ts";
import { epochSeconds } from "../db/instant.ts";
import { columnsJson } from "../db/json.ts";
import { agents, architecture_versions, isFinishedRun, runs, spans } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { visibleRun } from "../runs/view.ts";
import { mean, rounded } from "../scoring/mean.ts";
import { readTrace, ROOT } from "../telemetry/trace.ts";
import { versionNumbers } from "./timeline.ts";

/** How many runs a blueprint looks at: the most recent ones. */
const WINDOW = 10;
/** How many entries each of its lists has at most: the most frequent ones. */
const MAX_LISTED = 200;

/** The name of a model whose spans do not name it. */
const UNNAMED = "unknown";

const count = z.int();

export const BlueprintRead = z
  .object({
    agent_id: z.uuid(),
    run_count: count.meta({ description: "The runs of the window" }),
    window: z.array(z.uuid()).meta({ description: "The ten most recent ended runs that the caller may see" }),
    models: z.array(
      z.object({
        name: z.string(),
        provider: z.string().nullable(),
        calls: count,
        input_tokens: count,
        output_tokens: count,
      }),
    ),
    tools: z.array(
      z.object({ name: z.string(), calls: count, error_rate: z.number().min(0).max(1), mean_duration_ms: z.int() }),
    ),
    operations: z.array(z.object({ name: z.string(), count })).meta({ description: "By `gen_ai.operation.name`" }),
    edges: z.array(z.object({ from: z.string(), to: z.string(), count })).meta({
      description: `Who called whom, by the nearest enclosing call; models as provider/name, \`${ROOT}\` is the agent itself`,
    }),
    mean_spans_per_run: z.number().meta({ description: "Over the runs with telemetry; 0 without any" }),
    telemetry_runs: count.meta({ description: "The runs of the window with telemetry" }),
    architecture_hash: z.string().nullable().meta({ description: "Of the most recent of them that has one" }),
  })
  .meta({
    id: "BlueprintRead",
    description: `Each list has the most frequent first, and at most ${MAX_LISTED} entries.`,
  });

/** What a blueprint looks at in a span, by the names of its columns. */
const TimedSpan = z.object({
  span_id: z.string(),
  parent_span_id: z.string().nullable(),
  kind: z.enum(spans.kind.enumValues),
  scope: z.string().nullable(),
  operation: z.string().nullable(),
  name: z.string(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  input_tokens: z.number().nullable(),
  output_tokens: z.number().nullable(),
  cost_usd: z.number().nullable(),
  failed: z.boolean(),
  started_at: z.number(),
  duration_ms: z.number(),
});

const Trace = z.object({ run_id: z.string(), spans: z.array(TimedSpan) });

/** A blueprint as the database gives it: the spans of each run of the window that has any. */
export const BlueprintRow = z.object({
  agent_id: z.string(),
  window: z.array(z.string()),
  architecture_hash: z.string().nullable(),
  traces: z.array(Trace),
  /** The runs whose spans `withTraces` reads. */
  apart: z.array(z.string()),
});
export type BlueprintRow = Omit<z.output<typeof BlueprintRow>, "apart">;

const COLUMNS = Object.keys(TimedSpan.shape);

/**
 * How many bytes of spans are read along with the rest. Those of ten runs may be 44 MB in the database's answer, which has ten
 * for the versions of the agent's timeline, too.
 */
const READ_ALONG = 1_500_000;

/** SQL: the Trace of the span rows `s` of a run. */
const traceJson: SQL = sql`json_build_object('run_id', s.run_id,
  'spans', json_agg(${columnsJson("s", COLUMNS, { started_at: epochSeconds(sql`s.started_at`) })}))`;

/** SQL: the BlueprintRow of the agent row `a` over the runs that a viewer may see. */
export function blueprintJson(viewer: string | null): SQL {
  const { ofRun, ofVersion } = versionNumbers(viewer);
  return sql`(with recent as (
      select r.id, ${ofRun} as version from ${runs} r
      where r.agent_id = a.id and ${isFinishedRun(sql`r.status`)} and ${visibleRun(viewer)}
      order by r.id desc limit ${WINDOW}
    ), traces as (
      select run_id, trace, sum(octet_length(trace::text)) over (order by run_id desc) <= ${READ_ALONG} as fits from (
        select s.run_id, ${traceJson} as trace from ${spans} s where s.run_id in (select id from recent) group by s.run_id) x
    )
    select json_build_object('agent_id', a.id,
      'window', coalesce((select jsonb_agg(id order by id desc) from recent), '[]'),
      'architecture_hash', (select v.architecture_hash from recent x
        join ${architecture_versions} v on v.agent_id = a.id and ${ofVersion} = x.version order by x.id desc limit 1),
      'traces', coalesce((select json_agg(trace) from traces where fits), '[]'),
      'apart', coalesce((select json_agg(run_id) from traces where not fits), '[]')))`;
}

/** The blueprint with all its spans: those of runs that did not fit into one answer are read now, run by run. */
export async function withTraces(
  ctx: Context,
  { apart, ...row }: z.output<typeof BlueprintRow>,
): Promise<BlueprintRow> {
  const traces = [...row.traces];
  for (const run of apart) {
    const statement = sql`select ${traceJson} as result from ${spans} s where s.run_id = ${run}::uuid group by s.run_id`;
    const trace = await read(ctx, Trace, statement);
    if (trace !== null) traces.push(trace);
  }
  return { ...row, traces };
}

/** The blueprint of an agent over the ten most recent runs that the caller may see; throws 404. */
export async function readBlueprint(
  ctx: Context,
  principal: Principal,
  agentId: string,
): Promise<z.output<typeof BlueprintRead>> {
  const viewer = viewerId(principal);
  const row = await read(
    ctx,
    BlueprintRow,
    sql`select ${blueprintJson(viewer)} as result from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}`,
  );
  if (row === null) throw notFound("agent");
  return toBlueprint(await withTraces(ctx, row));
}

/** BlueprintRead from the database's JSON; the same for the same spans in any order. */
export function toBlueprint({ traces, window, ...row }: BlueprintRow): z.output<typeof BlueprintRead> {
  const readings = traces.map((trace) => readTrace(trace.run_id, trace.spans));
  const all = traces.flatMap((trace) => trace.spans);
  return {
    ...row,
    run_count: window.length,
    window,
    models: grouped(
      readings.flatMap(({ modelCalls }) => modelCalls),
      ({ model, provider }) => ({ name: model ?? UNNAMED, provider }),
      (some) => ({
        calls: some.length,
        input_tokens: total(some.map(({ input_tokens }) => input_tokens)),
        output_tokens: total(some.map(({ output_tokens }) => output_tokens)),
      }),
    ),
    tools: grouped(
      readings.flatMap(({ toolCalls }) => toolCalls),
      ({ name }) => ({ name }),
      (some) => ({
        calls: some.length,
        error_rate: rounded(mean(some.map(({ failed }) => Number(failed)))),
        mean_duration_ms: Math.round(mean(some.map(({ duration_ms }) => duration_ms))),
      }),
    ),
    operations: grouped(
      all.flatMap(({ operation }) => operation ?? []),
      (name) => ({ name }),
      ({ length }) => ({ count: length }),
    ),
    edges: grouped(
      readings.flatMap(({ edges }) => edges),
      ([from, to]) => ({ from, to }),
      ({ length }) => ({ count: length }),
    ),
    mean_spans_per_run: rounded(mean(traces.map((trace) => trace.spans.length))),
    telemetry_runs: traces.length,
  };
}

const total = (tokens: (number | null)[]): number => tokens.reduce<number>((sum, one) => sum + (one ?? 0), 0);

/** Items grouped by what `name` says of them, each group summed up; the most frequent first, then by name, at most `MAX_LISTED`. */
function grouped<T, N extends object, S>(items: readonly T[], name: (item: T) => N, sum: (items: T[]) => S): (N & S)[] {
  const groups = Map.groupBy(items, (item) => JSON.stringify(name(item)));
  return [...groups]
    .toSorted(([a, { length: most }], [b, { length }]) => length - most || (a < b ? -1 : 1))
    .slice(0, MAX_LISTED)
    .flatMap(([, members]) => members.slice(0, 1).map((first) => ({ ...name(first), ...sum(members) })));
}
