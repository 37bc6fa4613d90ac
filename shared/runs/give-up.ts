import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { lockAgents } from "../agents/lock.ts";
import { giveBackAllowance } from "../allowances/take.ts";
import { write } from "../db/change.ts";
import { idsOf } from "../db/ids.ts";
import { takeBack } from "../db/owed.ts";
import { isOpenRun, runs } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { FOLLOW_UP, followUp } from "./follow-up.ts";
import { askedLater, VERSION_IF_OVERTAKEN } from "./overtaken.ts";

/**
 * SQL: the parts `asked_later`, `given_up`, `refunded` and `followUp`'s of a statement that ends the open runs within `scope`
 * (a condition over runs `r`) as our fault and gives their allowance back; `FOLLOW_UP` names those that owe messages. One that
 * was overtaken by a later one of its task counts as asked: whose fault it is, such as that of a name that can't be resolved,
 * is not always known, and an owner must not be able to choose it.
 */
function givingUp(scope: SQL, now: Date): SQL {
  return sql`${askedLater(sql`${scope} and ${isOpenRun(sql`r.status`)}`)}, given_up as (
      update ${runs} r set status = 'failed', failure_code = 'service_error', callback_hash = null, lease_token = null,
        failure_detail = 'The run could not be carried out on our side. It is not held against the agent, and its allowance is given back.',
        lease_expires_at = null, awaiting_callback = false, canary = false, finalized_at = ${now.toISOString()}::timestamptz,
        suite_version = ${VERSION_IF_OVERTAKEN}
      where ${scope} and ${isOpenRun(sql`r.status`)} returning r.*
    ), refunded as (${giveBackAllowance(sql`select paid_kind, paid_owner, paid_period from given_up`)}
    ), ${followUp("given_up", now)}`;
}

/** Ends a run whose message failed for the last time as our fault, and gives its allowance back. */
export function giveUp(ctx: Context, runId: string): Promise<void> {
  return giveUpEach(ctx, [runId], sql`true`);
}

/** As `giveUp`, for those of the runs of one dispatch that no answer came of: the others went on from there. */
export function giveUpDispatch(ctx: Context, runIds: readonly string[]): Promise<void> {
  return giveUpEach(ctx, runIds, sql`r.answered_at is null and not r.awaiting_callback`);
}

/** As `giveUp`, for those of some runs for which `where` holds still, a condition over runs `r`. */
export async function giveUpEach(ctx: Context, runIds: readonly string[], where: SQL): Promise<void> {
  const ids = idsOf(runIds);
  await write(ctx, {
    lock: lockAgents(sql`select r.agent_id from ${runs} r where r.id in (${ids})`),
    parts: sql`with ${givingUp(sql`r.id in (${ids}) and ${where}`, ctx.now())}, taken_back as (
      ${takeBack(["dispatch", "score", "expire"], sql`select id from given_up`)}
    )`,
    owes: FOLLOW_UP,
    select: sql`select to_jsonb(count(*)) from given_up`,
    result: z.number(),
  });
}
