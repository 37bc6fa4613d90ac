import { type SQL, sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import type { UserPrincipal } from "../identity/principal.ts";
import type { Context } from "../platform/context.ts";
import { notFound, Problem } from "../platform/problem.ts";
import type { Action } from "./rights.ts";
import { teamFor } from "./view.ts";

/**
 * Throws 404 where `target`, a query with a column `allowed`, finds nothing that the caller may see, and `forbidden` where
 * the caller may do no more than see it. One round trip.
 */
export async function assertRight(ctx: Context, what: string, target: SQL): Promise<void> {
  const allowed = await read(ctx, z.boolean(), sql`select to_jsonb(t.allowed) as result from (${target}) t`);
  if (allowed === null) throw notFound(what);
  if (!allowed)
    throw new Problem("forbidden", `You may see this ${what}, but your role does not allow you to do this.`);
}

/** Throws 404 for a workspace that the caller is not a member of, `forbidden` where the role there does not allow `action`. */
export async function assertTeamRight(
  ctx: Context,
  action: Action,
  { userId }: UserPrincipal,
  teamId: string,
): Promise<void> {
  await assertRight(ctx, "workspace", teamFor(action, userId, teamId));
}
