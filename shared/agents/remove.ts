import { sql } from "drizzle-orm";
import { agents } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { agentOwner, visibleAgent } from "./view.ts";

/**
 * Deactivates an agent and discards what was kept to reach it; doing it again changes nothing. Its runs and evidence
 * stay. Throws 404 for an agent that is not visible, 403 without the right.
 */
export async function removeAgent(ctx: Context, principal: UserPrincipal, agentId: string): Promise<void> {
  const viewer = principal.userId;
  const removed = await readJson<boolean>(
    ctx,
    sql`with target as (
      select a.id, ${may("edit", viewer, agentOwner)} as allowed from ${agents} a
      where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}
    ), gone as (
      update ${agents} a set is_active = false, customer_llm_provider = null, updated_at = now()
      from target t where a.id = t.id and t.allowed and a.is_active
    )
    select to_jsonb(allowed) as result from target`,
  );
  if (removed === null) throw notFound("agent");
  if (!removed) throw new Problem("forbidden", "Only the owner, or an editor of its workspace, may delete this agent.");
  ctx.cache.invalidate("board");
}
