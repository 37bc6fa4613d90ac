import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../../db/change.ts";
import { describeError } from "../../db/client.ts";
import { belongsTo, type CloseDomain } from "../../db/closing.ts";
import { isDeleted } from "../../db/deleted.ts";
import type { Piece } from "../../db/pieces.ts";
import { users } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { ownsShared } from "./schedule.ts";
import { closeAccount } from "./close-account.ts";
import { removeContent, START, Stop } from "./remove-content.ts";
import { restoreAccount } from "./restore.ts";
import { wasTakenBack } from "./taken-back.ts";

/** How many statements over a chunk of rows one piece sends at most: more than there are chunks. */
export const MAX_CHUNKS = 30;

/** An account, and the end of its grace: accounts are dealt with in this order. */
const Due = z.object({ at: z.iso.datetime({ offset: true }), id: z.uuid() });
type Due = z.output<typeof Due>;

/** The account that was dealt with last, and where to go on with one that is closed and deleted in part. */
const Reached = Due.extend({ partly: z.object({ id: z.uuid(), stop: Stop }).optional() });
type Reached = z.output<typeof Reached>;

/**
 * Deletes the first account after the one that `cursor` names whose grace has elapsed, or as much of it as one piece can do:
 * then the next piece continues with it. `domains` say what becomes of their data. An account that fails is left until the
 * next day; one that has come to own a workspace with other members waits until the workspace is handed over. One that took its
 * deletion back stays, also where the database was set back to before that.
 */
export async function finaliseAccounts(
  ctx: Context,
  domains: readonly CloseDomain[],
  cursor: string | null,
): Promise<Piece> {
  const reached = reachedAt(cursor);
  const due = await nextDue(ctx, reached);
  if (due === null) return { next: null };
  const passed = JSON.stringify(due);
  try {
    if (reached.partly?.id !== due.id && (await wasTakenBack(ctx, due))) {
      await restoreAccount(ctx, due.id);
      ctx.log.warn("a deletion that was taken back was pending again, and is not any more", { user_id: due.id });
      return { next: passed };
    }
    const account = { id: due.id, now: ctx.now(), owns: belongsTo(due.id) };
    const closings = domains.map((close) => close(account));
    const from = reached.partly?.id === due.id ? reached.partly.stop : null;
    const isClosed = from !== null || (await closeAccount(ctx, due.id, closings));
    const stop = isClosed ? await removeContent(ctx, closings, from ?? START, MAX_CHUNKS) : null;
    ctx.cache.invalidate("board");
    ctx.log.info(stop === null ? "account dealt with" : "account partly deleted", { user_id: due.id });
    if (stop === null) return { next: passed };
    const partly: Reached = { at: reached.at, id: reached.id, partly: { id: due.id, stop } };
    return { next: JSON.stringify(partly) };
  } catch (error) {
    ctx.log.error("account not deleted", { user_id: due.id, detail: describeError(error) });
    return { next: passed, failure: error };
  }
}

/** Before every account. */
const BEGINNING: Due = { at: new Date(0).toISOString(), id: "00000000-0000-0000-0000-000000000000" };

/** Where a cursor says that the work was; one that an older version saved begins from the first account. */
function reachedAt(cursor: string | null): Reached {
  return (cursor === null ? undefined : Reached.safeParse(JSON.parse(cursor)).data) ?? BEGINNING;
}

function nextDue(ctx: Context, last: Due): Promise<Due | null> {
  return read(
    ctx,
    Due,
    sql`select jsonb_build_object('at', u.deletion_scheduled_for, 'id', u.id) as result from ${users} u
      where u.deletion_scheduled_for <= ${ctx.now().toISOString()}::timestamptz
        and (${isDeleted} or not ${ownsShared})
        and (u.deletion_scheduled_for, u.id) > (${last.at}::timestamptz, ${last.id}::uuid)
      order by u.deletion_scheduled_for, u.id limit 1`,
  );
}
