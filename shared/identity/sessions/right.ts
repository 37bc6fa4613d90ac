import { sql } from "drizzle-orm";
import { sessions } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import type { SessionPrincipal } from "../principal.ts";

/** Throws 404 for a session that is not of the caller's own account. */
export async function assertOwnSession(ctx: Context, { userId }: SessionPrincipal, sessionId: string): Promise<void> {
  const own = await readJson<boolean>(
    ctx,
    sql`select to_jsonb(true) as result from ${sessions}
      where id = ${sessionId}::uuid and user_id = ${userId}::uuid`,
  );
  if (own === null) throw notFound("session");
}
