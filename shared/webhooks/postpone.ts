import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { webhook_deliveries, webhook_events } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { oweLater } from "./messages.ts";
import { type Attempt, UNSENT } from "./send.ts";

/**
 * The wait between two tries to send an attempt, in seconds: a quarter of the event's age within these bounds, so that a
 * name whose own servers are broken for good costs less and less.
 */
const WAIT_S = { least: 60, most: 3600 };
/** How many days after its event an attempt is given up. */
const PATIENCE_DAYS = 3;

/**
 * Postpones attempts that our own fault kept from being sent, in one statement. It is no failure, uses up no attempt
 * and counts nothing against the receiver. Three days after its event an attempt is given up; it can be redelivered then.
 * Does nothing about those that have passed to another holder.
 */
export async function postpone(ctx: Context, attempts: readonly Attempt[]): Promise<void> {
  const claimed = attempts.map(({ id, lease }) => ({ id, lease }));
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  await write(ctx, {
    parts: sql`with held as (
      select d.id, ${at} - e.created_at as age
      from jsonb_to_recordset(${JSON.stringify(claimed)}::jsonb) as c(id uuid, lease uuid)
        join ${webhook_deliveries} d on d.id = c.id and d.lease_token = c.lease and d.status = 'pending'
        join ${webhook_events} e on e.id = d.event_id
    ), given_up as (
      update ${webhook_deliveries} d set status = 'exhausted', lease_token = null, lease_expires_at = null,
        next_attempt_at = null, response_excerpt = ${UNSENT}
      from held h where d.id = h.id and h.age > ${PATIENCE_DAYS}::integer * interval '1 day'
    ), postponed as (
      update ${webhook_deliveries} d set lease_token = null, lease_expires_at = null, next_attempt_at = ${at}
        + least(greatest(h.age / 4, ${WAIT_S.least}::integer * interval '1 second'), ${WAIT_S.most}::integer * interval '1 second')
      from held h where d.id = h.id and h.age <= ${PATIENCE_DAYS}::integer * interval '1 day'
      returning d.webhook_id, d.next_attempt_at as due
    ), messages as (${oweLater(sql`select webhook_id, due from postponed`)})`,
    owes: ["messages"],
    select: sql`select to_jsonb(count(*)) as result from postponed`,
    result: z.int(),
  });
}
