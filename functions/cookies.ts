import type { Context as HonoContext } from "hono";
import { setCookie } from "hono/cookie";
import type { CookieOptions } from "hono/utils/cookie";
import { SESSION_COOKIE } from "../shared/http/credentials.ts";
import { REFRESH_SECONDS } from "../shared/identity/sign-in.ts";
import type { Env } from "../shared/platform/env.ts";

/** The cookie that carries the refresh credential; it rides on the refresh endpoint alone. */
export const REFRESH_COOKIE = "service_refresh";
const REFRESH_PATH = "/api/v1/auth/refresh";

function attributes(env: Env, path: string, maxAge: number): CookieOptions {
  // Browsers refuse Secure cookies from plain http, which is what a developer's own machine serves.
  return { httpOnly: true, secure: env.BASE_URL.startsWith("https:"), sameSite: "Lax", path, maxAge };
}

/**
 * Sets both cookies of a signed-in browser. The session's outlives its token, as long as the refresh credential lives:
 * with it a browser that comes back after a pause can still sign out.
 */
export function setSessionCookies(c: HonoContext, env: Env, accessToken: string, refreshToken: string): void {
  setCookie(c, SESSION_COOKIE, accessToken, attributes(env, "/", REFRESH_SECONDS));
  setCookie(c, REFRESH_COOKIE, refreshToken, attributes(env, REFRESH_PATH, REFRESH_SECONDS));
}

/** Takes both cookies away. */
export function clearSessionCookies(c: HonoContext, env: Env): void {
  setCookie(c, SESSION_COOKIE, "", attributes(env, "/", 0));
  setCookie(c, REFRESH_COOKIE, "", attributes(env, REFRESH_PATH, 0));
}
