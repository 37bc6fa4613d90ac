import { sql } from "drizzle-orm";
import type * as z from "zod";
import { timeOf } from "../platform/ids.ts";
import type { Context } from "../platform/context.ts";
import { done } from "../db/done.ts";
import type { MailMessage } from "./message.ts";
import { send } from "./send.ts";

const HOUR_MS = 3_600_000;
/** For how long Resend surely takes a mail that comes again for the same: it says a day. */
const KNOWN_MS = 20 * HOUR_MS;
/** How long it is remembered that a mail was sent: as long as the mail is owed, and more. */
const REMEMBERED_S = 96 * 3600;

/**
 * Sends a mail, which is owed no longer then. Where the database does not answer any more, Redis remembers that it was sent:
 * the mail stays owed, and may come again when Resend has forgotten it.
 */
export async function sendOnce(ctx: Context, message: z.output<typeof MailMessage>): Promise<void> {
  const key = `mail:sent:${message.id}`;
  const isKnown = ctx.now().getTime() < timeOf(message.id) + KNOWN_MS;
  if (isKnown || (await ctx.redis.get(key)) === null) await send(ctx, message);
  try {
    await leave(ctx, message);
  } catch (error) {
    await ctx.redis.set(key, 1, { ex: REMEMBERED_S });
    throw error;
  }
}

/** Takes a mail out of the outbox: it is sent, or refused. */
export function leave(ctx: Context, { id }: z.output<typeof MailMessage>): Promise<void> {
  return done(ctx, "mail", sql`o.id = ${id}::uuid`);
}
