import { sql } from "drizzle-orm";
import { sessions } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import { denySessions } from "./deny.ts";

/** Ends one session of the account; doing it again changes nothing. Throws 404 for another's session. */
export async function signOut(ctx: Context, userId: string, sessionId: string): Promise<void> {
  const ended = await readJson<string>(
    ctx,
    sql`update ${sessions} set revoked_at = coalesce(revoked_at, ${ctx.now().toISOString()}::timestamptz)
      where id = ${sessionId}::uuid and user_id = ${userId}::uuid returning to_jsonb(id) as result`,
  );
  if (ended === null) throw notFound("session");
  await denySessions(ctx, [ended]);
}

/** Ends every session of the account. */
export async function signOutEverywhere(ctx: Context, userId: string): Promise<void> {
  const ended = await readJson<string[]>(
    ctx,
    sql`with ended as (
      update ${sessions} set revoked_at = ${ctx.now().toISOString()}::timestamptz
      where user_id = ${userId}::uuid and revoked_at is null returning id
    ) select jsonb_agg(id) as result from ended`,
  );
  await denySessions(ctx, ended ?? []);
}
