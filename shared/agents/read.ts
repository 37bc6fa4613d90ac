import { sql } from "drizzle-orm";
import { agents } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { type AgentRow, agentJson, visibleAgent } from "./view.ts";

/** One agent as the caller may see it; throws 404 for one that is not visible. */
export async function readAgent(ctx: Context, principal: Principal, agentId: string): Promise<AgentRow> {
  const viewer = viewerId(principal);
  const row = await readJson<AgentRow>(
    ctx,
    sql`select ${agentJson(viewer)} as result from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}`,
  );
  if (row === null) throw notFound("agent");
  return row;
}
