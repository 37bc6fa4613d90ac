import type { Context as HonoContext } from "hono";
import { setCookie } from "hono/cookie";
import type { CookieOptions } from "hono/utils/cookie";
import { FIRST_STEP_COOKIE, REFRESH_COOKIE, SESSION_COOKIE } from "../../shared/http/cookie-names.ts";
import { FIRST_STEP_SECONDS, type HalfSignedIn } from "../../shared/identity/second-factor/first-step.ts";
import { REFRESH_SECONDS } from "../../shared/identity/sessions/new-session.ts";
import type { Env } from "../../shared/platform/env.ts";
import { isLoopback } from "../../shared/platform/outbound/policy.ts";

const REFRESH_PATH = "/api/v1/auth/refresh";

/**
 * What every cookie of the service has. It is Secure but where the service itself is plain http on loopback: behind a
 * proxy that ends TLS, a base URL of http must not send credentials in the clear.
 */
export function cookieOptions({ BASE_URL }: Pick<Env, "BASE_URL">, path: string, maxAge: number): CookieOptions {
  const base = new URL(BASE_URL);
  // Some browsers refuse Secure cookies from plain http, which is what a developer's own machine serves.
  const secure = !(base.protocol === "http:" && isLoopback(base));
  return { httpOnly: true, secure, sameSite: "Lax", path, maxAge };
}

/**
 * Sets both cookies of a signed-in browser. The session's outlives its token, as long as the refresh credential lives:
 * with it a browser that comes back after a pause can still sign out.
 */
export function setSessionCookies(c: HonoContext, env: Env, accessToken: string, refreshToken: string): void {
  setCookie(c, SESSION_COOKIE, accessToken, cookieOptions(env, "/", REFRESH_SECONDS));
  setCookie(c, REFRESH_COOKIE, refreshToken, cookieOptions(env, REFRESH_PATH, REFRESH_SECONDS));
}

/** Takes both cookies away. */
export function clearSessionCookies(c: HonoContext, env: Env): void {
  setCookie(c, SESSION_COOKIE, "", cookieOptions(env, "/", 0));
  setCookie(c, REFRESH_COOKIE, "", cookieOptions(env, REFRESH_PATH, 0));
}

/** Keeps with the browser that it passed the first step of a sign-in, for the second. */
export function setFirstStepCookie(c: HonoContext, env: Env, { firstStep }: HalfSignedIn): void {
  setCookie(c, FIRST_STEP_COOKIE, firstStep, cookieOptions(env, "/", FIRST_STEP_SECONDS));
}

/** Takes the cookie of a first step away. */
export function clearFirstStepCookie(c: HonoContext, env: Env): void {
  setCookie(c, FIRST_STEP_COOKIE, "", cookieOptions(env, "/", 0));
}
