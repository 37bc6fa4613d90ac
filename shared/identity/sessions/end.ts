import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../../db/change.ts";
import { sessions, users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { voidTokens } from "../email-token.ts";
import { denySessions, endedJson } from "./deny.ts";

/** Ends one session of the account; doing it again changes nothing. Throws 404 for a session of another account. */
export async function signOut(ctx: Context, userId: string, sessionId: string): Promise<void> {
  const ended = await write(ctx, {
    parts: sql`with ended as (
      update ${sessions} set revoked_at = coalesce(revoked_at, ${ctx.now().toISOString()}::timestamptz)
      where id = ${sessionId}::uuid and user_id = ${userId}::uuid returning id
    )`,
    select: sql`select to_jsonb(id) as result from ended`,
    result: z.uuid(),
  });
  if (ended === null) throw notFound("session");
  await denySessions(ctx, [ended]);
}

/** Ends every session of the account, and a change of its address that one of them asked for. */
export async function signOutEverywhere(ctx: Context, userId: string): Promise<void> {
  const ended = await write(ctx, {
    // A change of the address that is asked for at this moment comes before this and is voided, or after it and is refused.
    lock: sql`select from ${users} where id = ${userId}::uuid for no key update`,
    parts: sql`with ended as (
      update ${sessions} set revoked_at = ${ctx.now().toISOString()}::timestamptz
      where user_id = ${userId}::uuid and revoked_at is null returning id, expires_at
    ), voided as (${voidTokens(ctx, ["confirm_email"], sql`(select ${userId}::uuid as id)`)})`,
    select: sql`select ${endedJson(ctx)} as result`,
    result: z.array(z.uuid()),
  });
  await denySessions(ctx, ended ?? []);
}
