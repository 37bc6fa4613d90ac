import { sql } from "drizzle-orm";
import { agents } from "../db/schema/index.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { assertRight } from "../teams/right.ts";
import { type Action, may } from "../teams/rights.ts";
import { agentOwner, visibleAgent } from "./conditions.ts";

/** Throws 404 for an agent that is not visible, `forbidden` where the caller may not do `action` with it. */
export async function assertAgentRight(
  ctx: Context,
  action: Action,
  { userId }: UserPrincipal,
  agentId: string,
): Promise<void> {
  await assertRight(
    ctx,
    "agent",
    sql`select ${may(action, userId, agentOwner)} as allowed from ${agents} a
      where a.id = ${agentId}::uuid and ${visibleAgent(userId)}`,
  );
}
