import { type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import { refresh_tokens, sessions } from "../../db/schema/index.ts";
import type { Context } from "../../platform/context.ts";
import { randomToken, sha256 } from "../../platform/crypto.ts";
import { newId } from "../../platform/ids.ts";
import { issueAccessToken } from "./access-token.ts";
import type { UserRead } from "../shown.ts";

/** Seconds a refresh credential lives after its last use. */
export const REFRESH_SECONDS = 30 * 86_400;

/** A session to be stored, and the refresh credential that only its owner will know. */
export interface NewSession {
  id: string;
  refreshToken: string;
  refreshHash: string;
  expiresAt: string;
}

/** What a browser or client gets when it signs in or refreshes. */
export interface SignedIn {
  user: z.output<typeof UserRead>;
  accessToken: string;
  refreshToken: string;
}

/** A session that does not exist yet, with a fresh 256-bit refresh credential. */
export function newSession(ctx: Context): NewSession {
  const refreshToken = randomToken();
  return {
    id: newId(ctx.now()),
    refreshToken,
    refreshHash: sha256(refreshToken),
    expiresAt: new Date(ctx.now().getTime() + REFRESH_SECONDS * 1000).toISOString(),
  };
}

/** SQL: the parts of a statement that store a session for the account that is the row of `source` (id), if there is one. */
export function sessionParts(session: NewSession, userAgent: string | null, source: SQL): SQL {
  return sql`s as (
      insert into ${sessions} (id, user_id, user_agent, expires_at)
      select ${session.id}::uuid, x.id, ${userAgent}, ${session.expiresAt}::timestamptz from ${source} x
    ), t as (
      insert into ${refresh_tokens} (token_hash, session_id)
      select ${session.refreshHash}, ${session.id}::uuid from ${source} x
    )`;
}

/** The credentials of a session that was stored. */
export async function signedIn(ctx: Context, user: z.output<typeof UserRead>, session: NewSession): Promise<SignedIn> {
  return { user, accessToken: await issueAccessToken(ctx, user.id, session.id), refreshToken: session.refreshToken };
}
