import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../db/change.ts";
import { agents } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import { may } from "../teams/rights.ts";
import { deleteTokens } from "../telemetry/token.ts";
import { accountOfAgent, lockAccounts } from "./account.ts";
import { agentOwner, visibleAgent } from "./conditions.ts";
import { switchOffAndDiscard } from "./parts.ts";

/**
 * Deactivates an agent and discards its credentials for good; doing it again changes nothing. Its endpoint, runs and
 * evidence stay. Throws 404 for an agent that is not visible, 403 without the right.
 */
export async function removeAgent(ctx: Context, principal: UserPrincipal, agentId: string): Promise<void> {
  const viewer = principal.userId;
  const removal = verdict({ forbidden: sql`not ${may("edit", viewer, agentOwner)}` });
  const removed = sql`select id from target where outcome = 'done'`;
  await change(ctx, {
    lock: lockAccounts(accountOfAgent(agentId)),
    parts: sql`with target as (
      select a.id, ${removal.sql} as outcome from ${agents} a
      where a.id = ${agentId}::uuid and ${visibleAgent(viewer)}
    ), deactivated as (${switchOffAndDiscard(removed)}), discarded as (${deleteTokens(removed)})`,
    result: sql`select jsonb_build_object('outcome', outcome) as result from target`,
    verdict: removal,
    done: z.unknown(),
    refusals: {
      not_found: () => notFound("agent"),
      forbidden: () =>
        new Problem("forbidden", "Only the owner, or an editor of its workspace, may delete this agent."),
    },
  });
  ctx.cache.invalidate("board");
}
