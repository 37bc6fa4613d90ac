import { type SQL, sql } from "drizzle-orm";
import type { Context } from "../platform/context.ts";
import { deletePiece, isFirstBelow, type Piece } from "./pieces.ts";
import { idempotency_keys } from "./schema/index.ts";

/** Deletes at most 5,000 expired results that were stored under an Idempotency-Key. */
export function forgetResults(ctx: Context): Promise<Piece> {
  const expired = isFirstBelow(idempotency_keys.expires_at, sql`now()`);
  return deletePiece(ctx, sql`delete from ${idempotency_keys} where ${expired}`);
}

/** SQL: a part that deletes every result stored for `caller`, an expression over the rows of the part `source`. */
export function forgetResultsOf(caller: SQL, source: SQL): SQL {
  return sql`delete from ${idempotency_keys} i using ${source} where i.caller = ${caller}`;
}
