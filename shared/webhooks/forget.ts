import { sql } from "drizzle-orm";
import { deletePiece, type Piece } from "../db/pieces.ts";
import { webhook_deliveries, webhook_events } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";

/** Days for which attempts are kept, and events at least. */
const KEPT_DAYS = 30;

/** Rows that one statement deletes. */
const SIZE = 5000;

const keptSince = (ctx: Context): Date => new Date(ctx.now().getTime() - KEPT_DAYS * 86_400_000);

/** Deletes at most 5,000 attempts older than 30 days. */
export function forgetDeliveries(ctx: Context): Promise<Piece> {
  // The ids tell when the attempts came to be, and are what the index is over.
  return deletePiece(
    ctx,
    sql`delete from ${webhook_deliveries} where id in (
      select id from ${webhook_deliveries} where id < ${newId(keptSince(ctx))}::uuid order by id limit ${SIZE}
    ) returning 1`,
    SIZE,
  );
}

/** Deletes at most 5,000 events older than 30 days that no attempt is left of. */
export function forgetEvents(ctx: Context): Promise<Piece> {
  return deletePiece(
    ctx,
    sql`delete from ${webhook_events} where id in (
      select e.id from ${webhook_events} e where e.created_at < ${keptSince(ctx).toISOString()}::timestamptz
        and not exists (select from ${webhook_deliveries} d where d.event_id = e.id) limit ${SIZE}
    ) returning 1`,
    SIZE,
  );
}
