import { Buffer } from "node:buffer";
import type { Context as HonoContext } from "hono";
import { getCookie } from "hono/cookie";
import { SESSION_COOKIE } from "../../../shared/http/cookie-names.ts";

/** Whether the browser has a session, in force or to be taken up again. Only the interface says whose. */
export function isSignedIn(c: HonoContext): boolean {
  return getCookie(c, SESSION_COOKIE) !== undefined;
}

/**
 * The head of a page that is open to everybody: that of an account, at the place `own`, for who has a session, a stranger's
 * for others.
 */
export const headOf = (c: HonoContext, own = ""): { own?: string } => (isSignedIn(c) ? { own } : {});

/** The name of the hidden field with the account that a form was shown to. */
export const ACCOUNT = "_account";

/** The account that the browser's session says it is of, in force or not; null without one. Unchecked: it proves nothing. */
export const accountOf = (c: HonoContext): string | null => claimOf(c, /"sub":"([\w-]+)"/);

/** Which session the browser says it has, as unchecked; null without one. */
export const sessionOf = (c: HonoContext): string | null => claimOf(c, /"sid":"([\w-]+)"/);

function claimOf(c: HonoContext, claim: RegExp): string | null {
  const claims = getCookie(c, SESSION_COOKIE)?.split(".")[1] ?? "";
  return claim.exec(Buffer.from(claims, "base64url").toString())?.[1] ?? null;
}
