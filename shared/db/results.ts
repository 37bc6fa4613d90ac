import { type SQL, sql } from "drizzle-orm";
import type { Context } from "../platform/context.ts";
import { deletePiece, type Piece } from "./pieces.ts";
import { idempotency_keys } from "./schema/index.ts";

/** Rows that one statement deletes. */
const SIZE = 5000;

/** Deletes at most 5,000 expired results that were stored under an Idempotency-Key. */
export function forgetResults(ctx: Context): Promise<Piece> {
  return deletePiece(
    ctx,
    sql`delete from ${idempotency_keys} where (caller, key) in (
      select caller, key from ${idempotency_keys} where expires_at < now() limit ${SIZE}
    ) returning 1`,
    SIZE,
  );
}

/** SQL: a part that deletes every result stored for `caller`, an expression over the rows of the part `source`. */
export function forgetResultsOf(caller: SQL, source: SQL): SQL {
  return sql`delete from ${idempotency_keys} i using ${source} where i.caller = ${caller}`;
}
