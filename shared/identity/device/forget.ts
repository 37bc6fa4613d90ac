import { sql } from "drizzle-orm";
import { deletePiece, isFirstBelow, type Piece } from "../../db/pieces.ts";
import { device_authorizations } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";

/** Deletes at most 5,000 of the codes of programs that expired more than an hour ago. */
export function forgetDevices(ctx: Context): Promise<Piece> {
  const hourAgo = new Date(ctx.now().getTime() - 3_600_000).toISOString();
  const expired = isFirstBelow(device_authorizations.expires_at, sql`${hourAgo}::timestamptz`);
  return deletePiece(ctx, sql`delete from ${device_authorizations} where ${expired}`);
}
