import type { Context as HonoContext } from "hono";
import type * as z from "zod";
import type { TokenResponse } from "../../shared/identity/schemas.ts";
import { ACCESS_TOKEN_SECONDS } from "../../shared/identity/sessions/access-token.ts";
import type { SignedIn } from "../../shared/identity/sessions/new-session.ts";

/** The most of a program's name that is kept. */
const MAX_USER_AGENT = 256;

/** What a sign-in answers. */
export function toTokenResponse({ user, accessToken }: SignedIn): z.input<typeof TokenResponse> {
  return { access_token: accessToken, token_type: "bearer", expires_in: ACCESS_TOKEN_SECONDS, user };
}

/** What the caller's program says that it is; null where it says nothing. */
export function userAgentOf(c: HonoContext): string | null {
  return c.req.header("user-agent")?.slice(0, MAX_USER_AGENT) ?? null;
}
