import { sql } from "drizzle-orm";
import { deletePiece, type Piece } from "../../db/pieces.ts";
import { email_tokens, sessions, sign_in_marks } from "../../db/schema/index.ts";
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

/** How long a network or browser is remembered after the last sign-in with it, in days. */
const MARK_DAYS = 400;

/** Forgets at most 5,000 networks and browsers that no account signed in with for 400 days. */
export function forgetMarks(ctx: Context): Promise<Piece> {
  const before = new Date(ctx.now().getTime() - MARK_DAYS * 86_400_000).toISOString();
  return deletePiece(
    ctx,
    sql`delete from ${sign_in_marks} where (user_id, kind, mark) in (
      select user_id, kind, mark from ${sign_in_marks} where last_seen_at < ${before}::timestamptz limit ${SIZE}
    ) returning 1`,
    SIZE,
  );
}
