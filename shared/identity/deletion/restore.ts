import { sql } from "drizzle-orm";
import type * as z from "zod";
import { isDeleted } from "../../db/deleted.ts";
import { users } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { Problem } from "../../platform/problem.ts";
import type { DeletionRead } from "../schemas.ts";

/** Takes a scheduled deletion back; an account without one stays as it is. Throws 401 when it is too late. */
export async function restoreAccount(ctx: Context, userId: string): Promise<z.output<typeof DeletionRead>> {
  const restored = await readJson<true>(
    ctx,
    sql`update ${users} u set deletion_scheduled_for = null where u.id = ${userId}::uuid and not ${isDeleted}
      returning to_jsonb(true) as result`,
  );
  if (restored === null) throw new Problem("unauthenticated", "This account does not exist any more.");
  return { deletion_pending: false, deletion_scheduled_for: null };
}
