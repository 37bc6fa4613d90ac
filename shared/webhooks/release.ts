import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { webhook_deliveries } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { wake } from "./messages.ts";
import type { Attempt } from "./send.ts";

/** Gives up claimed attempts that were not begun, in one statement, and owes the queue a message that has them made. */
export async function release(ctx: Context, attempts: readonly Attempt[]): Promise<void> {
  const held = attempts.map(({ id, lease }) => ({ id, lease }));
  await write(ctx, {
    parts: sql`with held as (
      select * from jsonb_to_recordset(${JSON.stringify(held)}::jsonb) as h(id uuid, lease uuid)
    ), released as (
      update ${webhook_deliveries} d set lease_token = null, lease_expires_at = null
      from held h where d.id = h.id and d.lease_token = h.lease and d.status = 'pending'
      returning d.webhook_id, d.next_attempt_at as due
    ), ${wake("messages", sql`select webhook_id, due from released`)}`,
    hands: ["messages"],
    select: sql`select to_jsonb(count(*)) as result from released`,
    result: z.int(),
  });
}
