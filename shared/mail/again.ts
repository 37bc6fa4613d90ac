import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../db/change.ts";
import { oweAnew } from "../db/owed.ts";
import { timeOf } from "../platform/ids.ts";
import type { Context } from "../platform/context.ts";
import { LINK_LASTS_MS, type MailMessage } from "./message.ts";

const HOUR_MS = 3_600_000;
/** How old a mail may get: Resend may be away for days, and then its news are none any more. */
const LASTS_MS = 72 * HOUR_MS;
/** When the tries start anew after the last one failed. */
const REST_MS = HOUR_MS;

/**
 * Owes a mail anew whose tries are over, with its own id: the queue takes it for no longer than eight hours, and an invitation
 * or what a payment came to is told once. One whose link will be over by then, or that is three days old, is left.
 */
export async function sendLater(ctx: Context, message: z.output<typeof MailMessage>): Promise<void> {
  const now = ctx.now().getTime();
  const age = now - timeOf(message.id);
  const lasts = "token" in message ? Math.min(LASTS_MS, LINK_LASTS_MS[message.template]) : LASTS_MS;
  if (message.to === null || age + REST_MS >= lasts) return;
  // The same where the queue tells twice of one end, so that it takes the second for a duplicate.
  const generation = 1 + Math.floor(age / HOUR_MS);
  // As the verbs that owe mails have it: news do not stand in one line with links.
  const line = "token" in message ? null : "notices";
  await write(ctx, {
    parts: sql`with owed as (${oweAnew(
      "mail",
      sql`select ${message.id}::uuid as id, ${generation}::integer as generation, ${JSON.stringify(message)}::jsonb as body,
        ${line}::text as flow_key, ${new Date(now + REST_MS).toISOString()}::timestamptz as not_before`,
    )})`,
    owes: ["owed"],
    select: sql`select to_jsonb(count(*)) as result from owed`,
    result: z.number(),
  });
}
