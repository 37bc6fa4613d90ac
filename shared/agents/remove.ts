import { sql } from "drizzle-orm";
import { agents } from "../db/schema/index.ts";
import { writeJson } from "../db/statement.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { deleteTokens } from "../telemetry/token.ts";
import { accountOfAgent, lockAccounts } from "./account.ts";
import { agentOwner, visibleAgent } from "./view.ts";

/**
 * Deactivates an agent and discards its credentials for good; doing it again changes nothing. Its endpoint, which is
 * none, stays, and so do its runs and evidence. Throws 404 for an agent that is not visible, 403 without the right.
 */
export async function removeAgent(ctx: Context, principal: UserPrincipal, agentId: string): Promise<void> {
  const viewer = principal.userId;
  const ctes = sql`with target as (
    select a.id, ${may("edit", viewer, agentOwner)} as allowed from ${agents} a
    where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}
  ), gone as (
    update ${agents} a set is_active = false, customer_llm_provider = null, updated_at = now()
    from target t where a.id = t.id and t.allowed and a.is_active
  ), discarded as (
    ${deleteTokens(sql`select id from target where allowed`)}
  )`;
  const result = sql`select to_jsonb((select allowed from target)) as result`;
  const removed = await writeJson<boolean | null>(ctx, ctes, result, lockAccounts(accountOfAgent(agentId)));
  if (removed === null) throw notFound("agent");
  if (!removed) throw new Problem("forbidden", "Only the owner, or an editor of its workspace, may delete this agent.");
  ctx.cache.invalidate("board");
}
