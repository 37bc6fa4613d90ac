import { sql } from "drizzle-orm";
import { describeError } from "../db/client.ts";
import { isDeleted } from "../db/deleted.ts";
import { users } from "../db/schema/index.ts";
import { readJson } from "../db/statement.ts";
import type { Context } from "../platform/context.ts";
import { ownsShared } from "./delete-account.ts";
import { closeAccount } from "./finalise-account.ts";
import { type Budget, removeContent } from "./finalise-content.ts";

/** Most accounts, and most statements over a chunk of runs, of one time. */
const MAX_ACCOUNTS = 50;
const MAX_CHUNKS = 400;

/**
 * Deletes the accounts whose grace has elapsed, oldest first, and goes on with those that were not done last time. One
 * that fails holds no other up; one that has come to own a workspace with other members waits until it is handed over.
 * Returns how many are done.
 */
export async function finaliseAccounts(ctx: Context): Promise<number> {
  const due = await readJson<string[]>(
    ctx,
    sql`select jsonb_agg(id) as result from (
      select u.id from ${users} u where u.deletion_scheduled_for <= ${ctx.now().toISOString()}::timestamptz
        and (${isDeleted} or not ${ownsShared}) order by u.deletion_scheduled_for, u.id limit ${MAX_ACCOUNTS}
    ) due`,
  );
  const budget: Budget = { chunks: MAX_CHUNKS };
  let done = 0;
  for (const id of due ?? []) {
    try {
      if ((await closeAccount(ctx, id)) && (await removeContent(ctx, id, budget))) done += 1;
    } catch (error) {
      ctx.log.error("account not deleted", { user_id: id, detail: describeError(error) });
    }
  }
  if (done > 0) ctx.cache.invalidate("board");
  ctx.log.info("accounts deleted", { done, due: due?.length ?? 0 });
  return done;
}
