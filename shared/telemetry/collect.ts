import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { epochSeconds } from "../db/instant.ts";
import { architecture_versions, otlp_tokens, spans } from "../db/schema/index.ts";
import type { Architecture } from "./architecture.ts";
import { SPAN_KINDS } from "./conventions.ts";
import type { Span } from "./trace.ts";

/** How many spans of a run are looked at; no more are kept. */
export const MAX_SPANS = 2000;

/** How many versions back a run may belong to. */
const VERSIONS = 20;

/** Exporters send a batch every five seconds unless configured otherwise; one more second is for the transport. */
const WAIT = sql.raw("interval '6 seconds'");

/** SQL: the number of the version row `v` among those that the run row `r` may know of. */
const NUMBER = sql`case when r.is_private then v.version else v.public_version end`;

const CollectedSpan: z.ZodType<Span> = z.object({
  span_id: z.string(),
  parent_span_id: z.string().nullable(),
  kind: z.enum(SPAN_KINDS),
  scope: z.string().nullable(),
  name: z.string(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  input_tokens: z.int().nullable(),
  output_tokens: z.int().nullable(),
  cost_usd: z.number().nullable(),
  started_at: z.number(),
  duration_ms: z.number(),
});

/** What came of a run's telemetry, as `collected` reads it; `versions` are the newest that the run may belong to, newest first. */
export const Collected = z.object({
  spans: z.array(CollectedSpan),
  versions: z.array(
    z.object({
      number: z.int(),
      hash: z.string(),
      models: z.array(z.string()),
      tools: z.array(z.string()),
      edges: z.array(z.tuple([z.string(), z.string()])),
    }),
  ),
});
export type Collected = z.output<typeof Collected>;

/**
 * SQL: when the spans of an answer that came at `answeredAt` have come if they come in time; null for an agent that
 * sends none, which so need not wait.
 */
export function collectedAt(agentId: SQL, answeredAt: SQL): SQL {
  return sql`case when exists (select from ${otlp_tokens} o where o.agent_id = ${agentId}) then ${answeredAt} + ${WAIT} end`;
}

/**
 * SQL: the telemetry of the run row `r` as a JSON object like `Collected`. A private run sees the versions of all runs by
 * their `version`, another one those of public runs alone by their `public_version`: so nothing that a private run does
 * can change what a public one shows.
 */
export function collected(): SQL {
  return sql`jsonb_build_object(
    'spans', (select coalesce(jsonb_agg(to_jsonb(s)), '[]') from (
      select span_id, parent_span_id, kind, scope, name, provider, model, input_tokens, output_tokens, cost_usd,
        ${epochSeconds(sql`k.started_at`)} as started_at, duration_ms
      from ${spans} k where run_id = r.id order by k.started_at, span_id limit ${MAX_SPANS}) s),
    'versions', (select coalesce(jsonb_agg(to_jsonb(x) order by x.number desc), '[]') from (
      select ${NUMBER} as number, v.architecture_hash as hash, v.models, v.tools, v.edges from ${architecture_versions} v
      where v.agent_id = r.agent_id and ${NUMBER} is not null order by 1 desc limit ${VERSIONS}) x))`;
}

/** The version that a run belongs to. */
export interface Placement {
  architecture: Architecture;
  hash: string;
  /** Not among the versions that it was placed by. */
  isNew: boolean;
  /** The newest number among the versions that it was placed by; 0 where there were none. */
  latest: number;
}

/**
 * SQL: the part `placed`, and what it needs, of a statement that binds the run of `run` (a part with the columns `id`,
 * `agent_id` and `is_private`) to its version, which is minted where it is new. `placed` has the run's `id`, its
 * `version` and `public_version` (null for a private run), and of these as `number` the one that the run may show; all
 * null without a placement, and then `run` may have many rows. `changed` says whether the version is new. The agent's
 * row must be locked.
 */
export function placeRun(run: string, placement: Placement | null): SQL {
  if (placement === null) {
    return sql`placed as (select o.id, null::integer as version, null::integer as public_version, null::integer as number,
      false as changed from ${sql.identifier(run)} o)`;
  }
  const { architecture, hash } = placement;
  const json = (value: unknown) => sql`${JSON.stringify(value)}::jsonb`;
  const next = (column: string) =>
    sql`(select 1 + coalesce(max(${sql.identifier(column)}), 0) from ${architecture_versions} where agent_id = o.agent_id)`;
  const target = sql`${sql.identifier(run)} o`;
  return sql`minted as (
    insert into ${architecture_versions} as v
      (agent_id, version, public_version, architecture_hash, models, tools, edges)
    select o.agent_id, ${next("version")}, case when not o.is_private then ${next("public_version")} end, ${hash},
      ${json(architecture.models)}, ${json(architecture.tools)}, ${json(architecture.edges)}
    from ${target}
    on conflict (agent_id, architecture_hash) do update set public_version = excluded.public_version
      where v.public_version is null and excluded.public_version is not null
    returning version, public_version
  ), bound as (
    select o.id, o.is_private, coalesce(m.version, v.version) as version, m.version is not null as changed,
      case when not o.is_private then coalesce(m.public_version, v.public_version) end as public_version
    from ${target} left join minted m on true
      left join ${architecture_versions} v on v.agent_id = o.agent_id and v.architecture_hash = ${hash}
  ), placed as (select *, case when is_private then version else public_version end as number from bound)`;
}

/** SQL: whether no version was minted since a placement was made for the run row `r`. */
export function stillLatest(placement: Placement): SQL {
  return sql`${placement.latest}::integer = (
    select coalesce(max(${NUMBER}), 0) from ${architecture_versions} v where v.agent_id = r.agent_id)`;
}
