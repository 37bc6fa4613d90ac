import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { visibleAgent } from "../agents/conditions.ts";
import { read } from "../db/change.ts";
import { agents, architecture_versions, runs } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { Instant } from "../platform/time.ts";
import { mayRun, visibleRun } from "../runs/view.ts";
import { architectureChanges } from "../telemetry/architecture.ts";

/** How many versions a timeline shows: the newest ones. */
const MAX_VERSIONS = 50;

const names = z.array(z.string());

const Version = z.object({
  version: z.int().meta({
    description: "Counted over all runs for owner and members, over public runs for everybody else",
  }),
  architecture_hash: z.string(),
  first_seen_at: Instant,
  last_seen_at: Instant,
  run_count: z.int().meta({ description: "The runs of this version that the caller may see, canaries among them" }),
  pass_rate: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .meta({ description: "Of those of them that were judged and are no canaries; null without one" }),
});

/** A version of an agent as its owner may keep it. */
export const KeptVersion = Version.pick({ version: true, architecture_hash: true }).extend({
  agent_id: z.uuid(),
  models: names,
  tools: names,
  created_at: Instant,
});

/** SQL: the JSON of the version row `v`. */
export const versionJson: SQL = sql`json_build_object('agent_id', v.agent_id, 'version', v.version,
  'architecture_hash', v.architecture_hash, 'models', v.models, 'tools', v.tools, 'created_at', v.created_at)`;

const changes = z
  .object({ models_added: names, models_removed: names, tools_added: names, tools_removed: names })
  .meta({
    description: "Compared with the previous version that the caller may see; the first version adds everything it has",
  });

export const BlueprintTimelineRead = z
  .object({ agent_id: z.uuid(), items: z.array(Version.extend({ changes })) })
  .meta({ id: "BlueprintTimelineRead" });

/** A timeline as the database gives it, with one more version than is shown, to compare the oldest shown one with. */
export const TimelineRow = z.object({
  agent_id: z.string(),
  items: z.array(Version.extend({ models: names, tools: names })),
});
export type TimelineRow = z.output<typeof TimelineRow>;

/**
 * SQL: the number of an architecture version in the run row `r` and in the version row `v`, as a viewer of the agent row
 * `a` counts: owner and members over all runs, others over public runs alone, so that no number reveals private runs.
 */
export function versionNumbers(viewer: string | null): { ofRun: SQL; ofVersion: SQL } {
  const counted = (all: SQL, open: SQL) => sql`case when ${mayRun("see", viewer)} then ${all} else ${open} end`;
  return {
    ofRun: counted(sql`r.architecture_version`, sql`r.architecture_public_version`),
    ofVersion: counted(sql`v.version`, sql`v.public_version`),
  };
}

/** SQL: the TimelineRow of the agent row `a` over the runs that a viewer may see. */
export function timelineJson(viewer: string | null): SQL {
  const { ofRun, ofVersion } = versionNumbers(viewer);
  return sql`(with seen as (
      select ${ofRun} as version, count(*) as run_count, (avg(r.passed::integer) filter (where r.canary is not true))::double precision as pass_rate,
        min(r.finalized_at) as first_seen_at, max(r.finalized_at) as last_seen_at
      from ${runs} r
      where r.agent_id = a.id and r.architecture_version is not null and ${ofRun} is not null and ${visibleRun(viewer)}
      group by 1 order by 1 desc limit ${MAX_VERSIONS + 1}
    )
    select jsonb_build_object('agent_id', a.id, 'items', coalesce(jsonb_agg(to_jsonb(s) || jsonb_build_object(
      'architecture_hash', v.architecture_hash, 'models', v.models, 'tools', v.tools) order by s.version desc), '[]'))
    from seen s join ${architecture_versions} v on v.agent_id = a.id and ${ofVersion} = s.version)`;
}

/** The versions of an agent that appear in runs which the caller may see, newest first, at most 50; throws 404. */
export async function readTimeline(
  ctx: Context,
  principal: Principal,
  agentId: string,
): Promise<z.output<typeof BlueprintTimelineRead>> {
  const viewer = viewerId(principal);
  const row = await read(
    ctx,
    TimelineRow,
    sql`select ${timelineJson(viewer)} as result from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}`,
  );
  if (row === null) throw notFound("agent");
  return toTimeline(row);
}

/** BlueprintTimelineRead from the database's JSON. */
export function toTimeline({ agent_id, items }: TimelineRow): z.output<typeof BlueprintTimelineRead> {
  const shown = items.slice(0, MAX_VERSIONS).map(({ models, tools, ...item }, index) => ({
    ...item,
    changes: architectureChanges(items[index + 1] ?? null, { models, tools }),
  }));
  return { agent_id, items: shown };
}
