import type { Context as HonoContext } from "hono";
import type * as z from "zod";
import type { TokenResponse } from "../../shared/identity/shown.ts";
import { ACCESS_TOKEN_SECONDS } from "../../shared/identity/sessions/access-token.ts";
import type { SignedIn } from "../../shared/identity/sessions/new-session.ts";
import type { Context } from "../../shared/platform/context.ts";
import { setSessionCookies } from "./cookies.ts";

/** The most of a program's name that is kept. */
const MAX_USER_AGENT = 256;

/** Sets the cookies of a new session; returns what the sign-in answers. */
export function letIn(
  c: HonoContext,
  ctx: Pick<Context, "env">,
  { user, accessToken, refreshToken }: SignedIn,
): z.input<typeof TokenResponse> {
  setSessionCookies(c, ctx.env, accessToken, refreshToken);
  return { access_token: accessToken, token_type: "bearer", expires_in: ACCESS_TOKEN_SECONDS, user };
}

/** What the caller's program says that it is; null where it says nothing. */
export function userAgentOf(c: HonoContext): string | null {
  return c.req.header("user-agent")?.slice(0, MAX_USER_AGENT) ?? null;
}
