import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../../db/change.ts";
import { passkeys } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";
import type { SessionPrincipal } from "../principal.ts";

/** Throws 404 unless the passkey is of the caller's own account. */
export async function assertOwnPasskey(ctx: Context, { userId }: SessionPrincipal, id: string): Promise<void> {
  const own = await read(
    ctx,
    z.literal(true),
    sql`select to_jsonb(true) as result from ${passkeys} where id = ${id}::uuid and user_id = ${userId}::uuid`,
  );
  if (own === null) throw notFound("passkey");
}
