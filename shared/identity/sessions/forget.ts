import { type SQL, sql } from "drizzle-orm";
import { deletePiece, deleteSelected, isFirstBelow, PIECE, type Piece, SELECTED } from "../../db/pieces.ts";
import { email_tokens, refresh_tokens, sessions, sign_in_marks } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { REFRESH_SECONDS } from "./new-session.ts";

const secondsAgo = (ctx: Context, seconds: number): SQL =>
  sql`${new Date(ctx.now().getTime() - seconds * 1000).toISOString()}::timestamptz`;

/**
 * Deletes sessions that ended or expired more than a day ago, at most 5,000 rows a piece: of the 5,000 that ended first, the
 * refresh credentials, and once none is left, the sessions themselves; then those of the next.
 */
export async function forgetEnded(ctx: Context, cursor: string | null): Promise<Piece> {
  const ended = sql`(select id, ctid from ${sessions}
    where least(revoked_at, expires_at) < ${secondsAgo(ctx, 86_400)} order by least(revoked_at, expires_at) limit ${PIECE})`;
  if (cursor === EMPTIED) {
    const { next } = await deleteSelected(ctx, emptied(ended), sql`delete from ${sessions} where ${SELECTED}`);
    return { next: next === null ? null : CREDENTIALS };
  }
  const deletion = sql`delete from ${refresh_tokens} where ${SELECTED}`;
  const { next } = await deleteSelected(ctx, credentials(ended), deletion);
  return { next: next === null ? EMPTIED : CREDENTIALS };
}

/** What the next piece deletes: refresh credentials, or the sessions that have none left. */
const CREDENTIALS = "credentials";
const EMPTIED = "emptied";

function credentials(ended: SQL): SQL {
  return sql`select t.ctid from ${ended} s cross join lateral (
      select ctid from ${refresh_tokens} where session_id = s.id limit ${PIECE}
    ) t limit ${PIECE}`;
}

function emptied(ended: SQL): SQL {
  return sql`select s.ctid from ${ended} s
    where not exists (select from ${refresh_tokens} t where t.session_id = s.id)`;
}

/**
 * Deletes at most 5,000 refresh credentials that were replaced longer ago than they live: by then they have expired, and are
 * refused as any other that is not known. Until then a replaced one stays, and ends its session when it comes back.
 */
export function forgetReplaced(ctx: Context): Promise<Piece> {
  const replaced = isFirstBelow(refresh_tokens.replaced_at, secondsAgo(ctx, REFRESH_SECONDS));
  return deletePiece(ctx, sql`delete from ${refresh_tokens} where ${replaced}`);
}

/** Deletes at most 5,000 tokens that were mailed and have expired. */
export function forgetTokens(ctx: Context): Promise<Piece> {
  return deletePiece(ctx, sql`delete from ${email_tokens} where ${isFirstBelow(email_tokens.expires_at, sql`now()`)}`);
}

/** How long a network or browser is remembered after the last sign-in with it, in seconds. */
const MARK_SECONDS = 400 * 86_400;

/** Forgets at most 5,000 networks and browsers that no account signed in with for 400 days. */
export function forgetMarks(ctx: Context): Promise<Piece> {
  const unseen = isFirstBelow(sign_in_marks.last_seen_at, secondsAgo(ctx, MARK_SECONDS));
  return deletePiece(ctx, sql`delete from ${sign_in_marks} where ${unseen}`);
}
