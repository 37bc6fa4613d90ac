import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../../db/change.ts";
import { sessions } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import type { SessionPrincipal } from "../principal.ts";

/** Throws 404 for a session that does not belong to the caller's account. */
export async function assertOwnSession(ctx: Context, { userId }: SessionPrincipal, sessionId: string): Promise<void> {
  const own = await read(
    ctx,
    z.literal(true),
    sql`select to_jsonb(true) as result from ${sessions}
      where id = ${sessionId}::uuid and user_id = ${userId}::uuid`,
  );
  if (own === null) throw notFound("session");
}
