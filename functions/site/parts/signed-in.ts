import type { Context as HonoContext } from "hono";
import { getCookie } from "hono/cookie";
import { SESSION_COOKIE } from "../../../shared/http/cookie-names.ts";

/** Whether the browser has a session, in force or to be taken up again. Only the interface says whose. */
export function isSignedIn(c: HonoContext): boolean {
  return getCookie(c, SESSION_COOKIE) !== undefined;
}
