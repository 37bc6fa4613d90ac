import { sql } from "drizzle-orm";
import { readAgent } from "../agents/read.ts";
import { toAgentRead } from "../agents/view.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { type BlueprintRow, blueprintJson, toBlueprint } from "../results/blueprint.ts";
import { type TimelineRow, timelineJson, toTimeline } from "../results/timeline.ts";

/** An agent with its blueprint and its timeline, as the caller may see them, in one statement; throws 404. */
export async function readRecord(ctx: Context, principal: Principal, agentId: string) {
  const viewer = viewerId(principal);
  const { blueprint, timeline, ...agent } = await readAgent<{ blueprint: BlueprintRow; timeline: TimelineRow }>(
    ctx,
    principal,
    agentId,
    sql`jsonb_build_object('blueprint', ${blueprintJson(viewer)}, 'timeline', ${timelineJson(viewer)})`,
  );
  return {
    agent: toAgentRead(agent),
    blueprint: toBlueprint(blueprint),
    timeline: toTimeline(timeline),
  };
}
