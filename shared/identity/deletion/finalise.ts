import { sql } from "drizzle-orm";
import * as z from "zod";
import { describeError } from "../../db/client.ts";
import { isDeleted } from "../../db/deleted.ts";
import type { Piece } from "../../db/pieces.ts";
import { users } from "../../db/schema/index.ts";
import { readJson } from "../../db/statement.ts";
import type { Context } from "../../platform/context.ts";
import { ownsShared } from "./schedule.ts";
import { closeAccount } from "./finalise-account.ts";
import { removeContent } from "./finalise-content.ts";

/** Most statements over a chunk of runs of one time. */
const MAX_CHUNKS = 8;

/** The account that was seen to last, with the end of its grace: they are gone through in this order. */
const Last = z.object({ at: z.iso.datetime({ offset: true }), id: z.uuid() });
type Last = z.output<typeof Last>;

/**
 * Deletes the first account after the one that `cursor` names whose grace has elapsed, or as much of it as goes at one
 * time: then the next piece goes on with it. One that fails is passed over until the next day; one that has come to own a
 * workspace with other members waits until it is handed over.
 */
export async function finaliseAccounts(ctx: Context, cursor: string | null): Promise<Piece> {
  const due = await nextDue(ctx, cursor === null ? null : Last.parse(JSON.parse(cursor)));
  if (due === null) return { next: null };
  const passed = JSON.stringify(due);
  try {
    const done = !(await closeAccount(ctx, due.id)) || (await removeContent(ctx, due.id, { chunks: MAX_CHUNKS }));
    ctx.cache.invalidate("board");
    ctx.log.info(done ? "account seen to" : "account partly deleted", { user_id: due.id });
    return { next: done ? passed : (cursor ?? BEGINNING) };
  } catch (error) {
    ctx.log.error("account not deleted", { user_id: due.id, detail: describeError(error) });
    return { next: passed, failure: error };
  }
}

/** Before every account. */
const BEGINNING = JSON.stringify({ at: new Date(0).toISOString(), id: "00000000-0000-0000-0000-000000000000" });

function nextDue(ctx: Context, last: Last | null): Promise<Last | null> {
  const behind = sql`(u.deletion_scheduled_for, u.id) > (${last?.at ?? null}::timestamptz, ${last?.id ?? null}::uuid)`;
  return readJson<Last>(
    ctx,
    sql`select jsonb_build_object('at', u.deletion_scheduled_for, 'id', u.id) as result from ${users} u
      where u.deletion_scheduled_for <= ${ctx.now().toISOString()}::timestamptz
        and (${isDeleted} or not ${ownsShared}) and ${last === null ? sql`true` : behind}
      order by u.deletion_scheduled_for, u.id limit 1`,
  );
}
