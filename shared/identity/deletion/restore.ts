import { sql } from "drizzle-orm";
import * as z from "zod";
import { write } from "../../db/change.ts";
import { isDeleted } from "../../db/deleted.ts";
import { users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { Problem } from "../../platform/problem.ts";
import { Instant } from "../../platform/time.ts";
import type { DeletionRead } from "../shown.ts";
import { noteTakenBack } from "./taken-back.ts";

/** Takes a scheduled deletion back; an account without one stays as it is. Throws 401 when it is too late. */
export async function restoreAccount(ctx: Context, userId: string): Promise<z.output<typeof DeletionRead>> {
  const restored = await write(ctx, {
    parts: sql`with restored as (
      update ${users} u set deletion_scheduled_for = null where u.id = ${userId}::uuid and not ${isDeleted}
      returning old.deletion_scheduled_for as pending
    )`,
    select: sql`select jsonb_build_object('pending', pending) as result from restored`,
    result: z.object({ pending: Instant.nullable() }),
  });
  if (restored === null) throw new Problem("unauthenticated", "This account does not exist any more.");
  if (restored.pending !== null) await noteTakenBack(ctx, { id: userId, at: restored.pending });
  return { deletion_pending: false, deletion_scheduled_for: null };
}
