import { sql } from "drizzle-orm";
import { deleteInPieces } from "../db/pieces.ts";
import { webhook_deliveries, webhook_events } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";

/** Days for which attempts are kept, and events at least. */
const KEPT_DAYS = 30;

/** Rows that one statement deletes, and most statements of one time. */
const PIECES = { size: 5000, most: 200 };

/** Deletes attempts older than 30 days, and events as old that no attempt is left of, in pieces. */
export async function forgetDeliveries(ctx: Context): Promise<void> {
  const before = new Date(ctx.now().getTime() - KEPT_DAYS * 86_400_000);
  // The ids tell when the attempts came to be, and are what the index is over.
  await deleteInPieces(
    ctx,
    sql`delete from ${webhook_deliveries} where id in (
      select id from ${webhook_deliveries} where id < ${newId(before)}::uuid order by id limit ${PIECES.size}
    ) returning 1`,
    PIECES,
  );
  await deleteInPieces(
    ctx,
    sql`delete from ${webhook_events} where id in (
      select e.id from ${webhook_events} e where e.created_at < ${before.toISOString()}::timestamptz
        and not exists (select from ${webhook_deliveries} d where d.event_id = e.id) limit ${PIECES.size}
    ) returning 1`,
    PIECES,
  );
}
