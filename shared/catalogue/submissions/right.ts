import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../../db/change.ts";
import { task_submissions } from "../../db/schema/index.ts";
import type { SessionPrincipal } from "../../identity/principal.ts";
import type { Context } from "../../platform/context.ts";
import { notFound } from "../../platform/problem.ts";

/** Throws 404 for a submission that is not the caller's own. */
export async function assertSubmitter(ctx: Context, { userId }: SessionPrincipal, submissionId: string): Promise<void> {
  const own = await read(
    ctx,
    z.literal(true),
    sql`select to_jsonb(true) as result from ${task_submissions}
      where id = ${submissionId}::uuid and submitter_id = ${userId}::uuid`,
  );
  if (own === null) throw notFound("submission");
}
