import { sql } from "drizzle-orm";
import * as z from "zod";
import { read } from "../db/change.ts";
import { FIRST_ID } from "../db/cursors.ts";
import { deletePiece, isAmong, isFirstBelow, PIECE, type Piece } from "../db/pieces.ts";
import { removed_webhooks, webhook_deliveries, webhook_events } from "../db/schema/index.ts";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";

/** How many days attempts are kept; events are kept at least as long. */
const KEPT_DAYS = 30;

const keptSince = (ctx: Context): Date => new Date(ctx.now().getTime() - KEPT_DAYS * 86_400_000);

/**
 * Deletes what is older than 30 days, at most 5,000 rows a piece: first attempts, and once none is left, the events that
 * no attempt refers to any more.
 */
export async function forgetDeliveries(ctx: Context, cursor: string | null): Promise<Piece> {
  const [, event] = /^events (.+)$/.exec(cursor ?? "") ?? [];
  const last = event === undefined ? null : await forgetEvents(ctx, event);
  if (event !== undefined) return { next: last === null ? null : `events ${last}` };
  const { next } = await forgetAttempts(ctx);
  return { next: next ?? `events ${FIRST_ID}` };
}

function forgetAttempts(ctx: Context): Promise<Piece> {
  // The ids tell when the attempts were made, and are what the index is on.
  const old = isFirstBelow(webhook_deliveries.id, sql`${newId(keptSince(ctx))}::uuid`);
  return deletePiece(ctx, sql`delete from ${webhook_deliveries} where ${old}`);
}

/** Looks at the next events behind one; returns the last of them, null where there are no more. */
function forgetEvents(ctx: Context, after: string): Promise<string | null> {
  const untold = sql`select l.ctid from looked l
    where not exists (select from ${webhook_deliveries} d where d.event_id = l.id)`;
  return read(
    ctx,
    z.uuid(),
    sql`with looked as (
      select id, ctid from ${webhook_events} where id > ${after}::uuid and id < ${newId(keptSince(ctx))}::uuid
      order by id limit ${PIECE}
    ), deleted as (
      delete from ${webhook_events} where ${isAmong(untold)}
    ) select to_jsonb(max(id::text)) as result from looked having count(*) = ${PIECE}`,
  );
}

/** How many pieces of the log of what is gone one call deletes at most. */
const MAX_PIECES = 10;

/**
 * Deletes attempts of the 5,000 subscriptions that have been gone longest, at most 50,000 a call, piece by piece, and what was
 * noted of those that have had none for an hour: an attempt may have been on its way when its subscription went.
 */
export async function forgetRemoved(ctx: Context): Promise<void> {
  for (let piece = 0; piece < MAX_PIECES; piece += 1) if ((await forgetPiece(ctx)) < PIECE) return;
}

async function forgetPiece(ctx: Context): Promise<number> {
  const theirs = sql`select d.ctid from removed r cross join lateral (
      select d.ctid from ${webhook_deliveries} d where d.webhook_id = r.id
      order by d.id desc limit ${PIECE} for update skip locked
    ) d limit ${PIECE}`;
  const deleted = await read(
    ctx,
    z.int(),
    sql`with removed as (
      select id, ctid, removed_at from ${removed_webhooks} order by removed_at limit ${PIECE}
    ), attempts as (
      delete from ${webhook_deliveries} where ${isAmong(theirs)} returning 1
    ), noted as (
      delete from ${removed_webhooks} where ${isAmong(sql`select r.ctid from removed r
        where r.removed_at < now() - interval '1 hour'
          and not exists (select from ${webhook_deliveries} d where d.webhook_id = r.id)`)}
    ) select to_jsonb(count(*)) as result from attempts`,
  );
  return deleted ?? 0;
}
