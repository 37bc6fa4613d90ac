import { sql } from "drizzle-orm";
import { deletePiece, type Piece } from "../../db/pieces.ts";
import { device_authorizations } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";

/** Rows that one statement deletes. */
const SIZE = 5000;

/** Deletes at most 5,000 of the codes of programs that expired more than an hour ago. */
export function forgetDevices(ctx: Context): Promise<Piece> {
  const hourAgo = new Date(ctx.now().getTime() - 3_600_000).toISOString();
  return deletePiece(
    ctx,
    sql`delete from ${device_authorizations} where device_hash in (
      select device_hash from ${device_authorizations} where expires_at < ${hourAgo}::timestamptz limit ${SIZE}
    ) returning 1`,
    SIZE,
  );
}
