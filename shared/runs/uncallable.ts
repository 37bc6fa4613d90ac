import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { hasEndpoint } from "../agents/conditions.ts";
import { lockAgents } from "../agents/lock.ts";
import { write } from "../db/change.ts";
import { idsOf } from "../db/ids.ts";
import { agents, runs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { callingOff } from "./cancelling.ts";
import { FOLLOW_UP } from "./follow-up.ts";
import { giveUpEach } from "./give-up.ts";

/** SQL: whether the agent of the run row `r` is still one that such a run can be carried out against. */
export const canBeCalled: SQL<boolean> = sql`exists (select from ${agents} a where a.id = r.agent_id
  and (${hasEndpoint} or (a.is_active and r.simulated)))`;

/**
 * Ends those of these runs that nobody carries out and whose agent was deactivated or disconnected since they were asked
 * for: nobody is called who is no agent of the service any more, and what would come of it says nothing of the agent. Queued
 * ones are cancelled, and their allowance is given back; those of a certification end as our fault, so that it pauses until
 * the agent can be called again; so do those that were lost in the middle.
 */
export async function endUncallable(ctx: Context, runIds: readonly string[]): Promise<void> {
  const ids = idsOf(runIds);
  const isUncallable = sql`not ${canBeCalled}`;
  await write(ctx, {
    lock: lockAgents(sql`select r.agent_id from ${runs} r where r.id in (${ids})`),
    parts: sql`with ${callingOff(sql`r.id in (${ids}) and r.trigger <> 'certification' and ${isUncallable}`, ctx.now())}`,
    owes: FOLLOW_UP,
    select: sql`select to_jsonb(count(*)) from ended`,
    result: z.int(),
  });
  await giveUpEach(
    ctx,
    runIds,
    sql`r.answered_at is null and not r.awaiting_callback and case r.status when 'queued' then ${isUncallable}
      else r.lease_token is null or r.lease_expires_at < now() end`,
  );
}
