import { sql } from "drizzle-orm";
import { readAgentWith } from "../agents/read.ts";
import { AgentRow, toAgentRead } from "../agents/view.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { BlueprintRow, blueprintJson, toBlueprint, withTraces } from "./blueprint.ts";
import { TimelineRow, timelineJson, toTimeline } from "./timeline.ts";

const RecordRow = AgentRow.extend({ blueprint: BlueprintRow, timeline: TimelineRow });

/** An agent with its blueprint and its timeline, as the caller may see them, in one statement unless its spans are many; throws 404. */
export async function readRecord(ctx: Context, principal: Principal, agentId: string) {
  const viewer = viewerId(principal);
  const { blueprint, timeline, ...agent } = await readAgentWith(
    ctx,
    principal,
    agentId,
    sql`jsonb_build_object('blueprint', ${blueprintJson(viewer)}, 'timeline', ${timelineJson(viewer)})`,
    RecordRow,
  );
  return {
    agent: toAgentRead(agent),
    blueprint: toBlueprint(await withTraces(ctx, blueprint)),
    timeline: toTimeline(timeline),
  };
}
