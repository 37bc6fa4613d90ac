import { sql } from "drizzle-orm";
import * as z from "zod";
import { change, verdict } from "../../db/change.ts";
import { device_authorizations } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { endedMeanwhile } from "../../platform/problem.ts";
import { stillHolds } from "../passwords/disown.ts";
import type { SessionPrincipal } from "../principal.ts";
import { hashOfUserCode, noDevice } from "./codes.ts";
import type { DeviceDecision } from "./schemas.ts";

/**
 * Lets the program with this code have an API key of the caller's account, or refuses it; the key is made when the program
 * fetches it, unless the caller's session has ended by then. Of decisions side by side the first one holds, and saying the
 * same again changes nothing. Throws 404 for a code that nobody asks with, or that was decided on otherwise.
 */
export async function decideDevice(
  ctx: Context,
  principal: SessionPrincipal,
  { user_code, allow }: z.output<typeof DeviceDecision>,
): Promise<void> {
  const { userId, sessionId } = principal;
  const decision = verdict({
    ended: sql`not ${stillHolds(principal)}`,
    decided: sql`d.allowed is not null and (d.user_id <> ${userId}::uuid or d.allowed <> ${allow})`,
  });
  await change(ctx, {
    parts: sql`with target as (
      select d.device_hash, ${decision.sql} as outcome from ${device_authorizations} d
      where d.user_code_hash = ${hashOfUserCode(ctx, user_code)}
        and d.expires_at > ${ctx.now().toISOString()}::timestamptz for update
    ), decided as (
      update ${device_authorizations} d set user_id = ${userId}::uuid, session_id = ${sessionId}::uuid, allowed = ${allow}
      from target t where d.device_hash = t.device_hash and t.outcome = 'done' and d.allowed is null
    )`,
    result: sql`select jsonb_build_object('outcome', outcome) as result from target`,
    verdict: decision,
    done: z.object({}),
    refusals: { not_found: noDevice, ended: endedMeanwhile, decided: noDevice },
  });
}
