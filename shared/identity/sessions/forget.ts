import { sql } from "drizzle-orm";
import { deletePiece, type Piece } from "../../db/pieces.ts";
import { email_tokens, sessions } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";

/** Rows that one statement deletes. */
const SIZE = 5000;

/** Deletes at most 5,000 sessions that ended or expired more than a day ago, with their refresh credentials. */
export function forgetEnded(ctx: Context): Promise<Piece> {
  const dayAgo = new Date(ctx.now().getTime() - 86_400_000).toISOString();
  return deletePiece(
    ctx,
    sql`delete from ${sessions} where id in (
      select id from ${sessions} where least(revoked_at, expires_at) < ${dayAgo}::timestamptz limit ${SIZE}
    ) returning 1`,
    SIZE,
  );
}

/** Deletes at most 5,000 tokens that were mailed and have expired. */
export function forgetTokens(ctx: Context): Promise<Piece> {
  return deletePiece(
    ctx,
    sql`delete from ${email_tokens} where token_hash in (
      select token_hash from ${email_tokens} where expires_at < now() limit ${SIZE}
    ) returning 1`,
    SIZE,
  );
}
