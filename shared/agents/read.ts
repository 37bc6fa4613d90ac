import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { read } from "../db/change.ts";
import { agents } from "../db/schema/index.ts";
import { type Principal, viewerId } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound } from "../platform/problem.ts";
import { visibleAgent } from "./conditions.ts";
import { AgentRow, agentJson, NOTHING_MORE } from "./view.ts";

/** One agent as the caller may see it; throws 404 for one that is not visible. */
export function readAgent(ctx: Context, principal: Principal, agentId: string): Promise<AgentRow> {
  return readAgentWith(ctx, principal, agentId, NOTHING_MORE, AgentRow);
}

/**
 * One agent as `readAgent` reads it, and in the same round trip what another domain knows of it: `more` is a JSON object of
 * the agent row `a` (SQL) whose members are added, and `row` parses both together.
 * @example
 * readAgentWith(ctx, principal, agentId, certifiedScoreJson(now), AgentRow.extend({ certified_score: z.number().nullable() }))
 */
export async function readAgentWith<Row extends z.ZodType>(
  ctx: Context,
  principal: Principal,
  agentId: string,
  more: SQL,
  row: Row,
): Promise<z.output<Row>> {
  const viewer = viewerId(principal);
  const agent = await read(
    ctx,
    row,
    sql`select ${agentJson(viewer)} || ${more} as result from ${agents} a
      where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}`,
  );
  if (agent === null) throw notFound("agent");
  return agent;
}
