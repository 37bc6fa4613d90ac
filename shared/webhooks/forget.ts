import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { deletePiece, type Piece } from "../db/pieces.ts";
import { removed_webhooks, webhook_deliveries, webhook_events } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";

/** How many days attempts are kept; events are kept at least as long. */
const KEPT_DAYS = 30;

/** How many rows one statement deletes at most. */
const BATCH_SIZE = 5000;

const keptSince = (ctx: Context): Date => new Date(ctx.now().getTime() - KEPT_DAYS * 86_400_000);

/**
 * Deletes what is older than 30 days, at most 5,000 rows a piece: first attempts, and once none is left, the events that
 * no attempt refers to any more.
 */
export async function forgetDeliveries(ctx: Context, cursor: string | null): Promise<Piece> {
  if (cursor === EVENTS) return staying(EVENTS, await forgetEvents(ctx));
  const { next } = await forgetAttempts(ctx);
  return { next: next ?? EVENTS };
}

/** The cursor once the attempts are done. */
const EVENTS = "events";

function staying(cursor: string, { next }: Piece): Piece {
  return { next: next === null ? null : cursor };
}

function forgetAttempts(ctx: Context): Promise<Piece> {
  // The ids tell when the attempts were made, and are what the index is on.
  return deletePiece(
    ctx,
    sql`delete from ${webhook_deliveries} where id in (
      select id from ${webhook_deliveries} where id < ${newId(keptSince(ctx))}::uuid order by id limit ${BATCH_SIZE}
    ) returning 1`,
    BATCH_SIZE,
  );
}

function forgetEvents(ctx: Context): Promise<Piece> {
  return deletePiece(
    ctx,
    sql`delete from ${webhook_events} where id in (
      select e.id from ${webhook_events} e where e.created_at < ${keptSince(ctx).toISOString()}::timestamptz
        and not exists (select from ${webhook_deliveries} d where d.event_id = e.id) limit ${BATCH_SIZE}
    ) returning 1`,
    BATCH_SIZE,
  );
}

/**
 * Deletes attempts of subscriptions that are gone, at most 5,000 a call, and what was noted of those that have had none for
 * an hour: an attempt may have been on its way when its subscription went. Each is found by its subscription.
 */
export async function forgetRemoved(ctx: Context): Promise<void> {
  await read(
    ctx,
    z.int(),
    sql`with attempts as (
      delete from ${webhook_deliveries} where id in (
        select d.id from ${removed_webhooks} r cross join lateral (
          select d.id from ${webhook_deliveries} d where d.webhook_id = r.id order by d.id desc limit ${BATCH_SIZE}
        ) d limit ${BATCH_SIZE}
      ) returning 1
    ), noted as (
      delete from ${removed_webhooks} where id in (
        select r.id from ${removed_webhooks} r where r.removed_at < now() - interval '1 hour'
          and not exists (select from ${webhook_deliveries} d where d.webhook_id = r.id) limit ${BATCH_SIZE}
      )
    ) select to_jsonb(count(*)) as result from attempts`,
  );
}
