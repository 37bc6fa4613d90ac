import { type SQL, sql } from "drizzle-orm";
import { agents } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { type AgentRow, agentJson, NOTHING_MORE, visibleAgent } from "./view.ts";

/**
 * One agent as the caller may see it; throws 404 for one that is not visible. `more` is a JSON object of the agent row
 * `a` (SQL) whose members, of type `M`, are added.
 */
export async function readAgent<M extends object = object>(
  ctx: Context,
  principal: Principal,
  agentId: string,
  more: SQL = NOTHING_MORE,
): Promise<AgentRow & M> {
  const viewer = viewerId(principal);
  const row = await readJson<AgentRow & M>(
    ctx,
    sql`select ${agentJson(viewer)} || ${more} as result from ${agents} a where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}`,
  );
  if (row === null) throw notFound("agent");
  return row;
}
