import type { Context as HonoContext } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import * as z from "zod";
import { describeError } from "../../shared/db/client.ts";
import { CODE_HOST_COOKIE } from "../../shared/http/cookie-names.ts";
import { toProblem } from "../../shared/http/problems.ts";
import { route } from "../../shared/http/route.ts";
import { codeHostSignIn } from "../../shared/identity/code-host/sign-in.ts";
import {
  beginCodeHost,
  CALLBACK_PATH,
  CodeHostFailure,
  type CodeHostProfile,
  codeHostMode,
  DEVELOPER,
  endCodeHost,
} from "../../shared/identity/code-host/code-host.ts";
import { secondFactorRequired } from "../../shared/identity/second-factor/first-step.ts";
import type { Context } from "../../shared/platform/context.ts";
import { frontendPage } from "../../shared/platform/frontend.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { cookieOptions, setFirstStepCookie, setSessionCookies } from "./cookies.ts";
import { DISOWNED } from "./disowned.ts";
import { userAgentOf } from "./token-response.ts";

/** Only the two endpoints here get the cookie. */
const PATH = "/api/v1/auth/codehost";
const LIFETIME_SECONDS = 600;

/** What GitHub may add is ignored, as RFC 6749 section 4.1.2 has it. */
const Callback = z.looseObject({
  code: z.string().max(1000).default(""),
  state: z.string().max(1000).default(""),
  dev: z.stringbool().default(false),
  error: z.string().max(1000).default(""),
});

function setSecret(c: HonoContext, ctx: Context, secret: string, maxAge: number): void {
  setCookie(c, CODE_HOST_COOKIE, secret, cookieOptions(ctx.env, PATH, maxAge));
}

function redirect(c: HonoContext, url: string): Response {
  c.header("Cache-Control", "no-store");
  return c.redirect(url, 302);
}

async function identify(
  ctx: Context,
  query: z.output<typeof Callback>,
  secret: string | undefined,
): Promise<CodeHostProfile> {
  const mode = codeHostMode(ctx);
  if (mode === "off") throw new CodeHostFailure("code_host_not_configured");
  if (mode === "github") return endCodeHost(ctx, query, secret);
  if (!query.dev) throw new CodeHostFailure("invalid_state");
  return DEVELOPER;
}

/** What the frontend is told about a failure; what is not the caller's doing goes to the log. */
function errorCode(ctx: Context, error: unknown): string {
  const code = error instanceof CodeHostFailure ? error.code : toProblem(error).code;
  const reason = error instanceof CodeHostFailure ? error.cause : error;
  if (reason !== undefined) ctx.log.error("code host sign-in failed", { code, detail: describeError(reason) });
  return code;
}

export const codehost = [
  route({
    id: "beginCodeHost",
    method: "get",
    path: PATH,
    tag: "Accounts",
    summary: "Sign in through the code host (GitHub)",
    description:
      "Redirects the browser to GitHub's authorize page (OAuth 2 with PKCE; a cookie binds the sign-in to this " +
      "browser for 10 minutes). In development without a client id it redirects to the dev callback, which signs in " +
      "a fixed user.",
    auth: "none",
    returns: { 302: null },
    problems: ["code_host_not_configured"],
    async handler({ ctx, c }) {
      const mode = codeHostMode(ctx);
      if (mode === "off") {
        throw new Problem(
          "code_host_not_configured",
          "Sign-in by the code host is not set up; use email and password.",
        );
      }
      if (mode === "dev") return redirect(c, `${ctx.env.BASE_URL}${CALLBACK_PATH}?dev=true`);
      const { url, secret } = await beginCodeHost(ctx);
      setSecret(c, ctx, secret, LIFETIME_SECONDS);
      return redirect(c, url);
    },
  }),
  route({
    id: "endCodeHost",
    method: "get",
    path: CALLBACK_PATH,
    tag: "Accounts",
    summary: "The callback of the code host",
    description:
      "Sets the session cookies and redirects to the frontend's `/auth/callback`, without a token in the URL. A failure " +
      "redirects there with `?error=`: `access_denied`, `invalid_state`, `email_not_verified`, `code_host_unavailable`, " +
      "`code_host_not_configured`, or a code of ours such as `dependency_unavailable`. `second_factor_required` stands for " +
      "an account with an authenticator app: POST /api/v1/auth/second-factor ends the sign-in.",
    auth: "none",
    query: Callback,
    returns: { 302: null },
    async handler({ ctx, query, c }) {
      const target = new URL(frontendPage(ctx.env, "/auth/callback"));
      const secret = getCookie(c, CODE_HOST_COOKIE);
      if (secret !== undefined) setSecret(c, ctx, "", 0);
      try {
        const profile = await identify(ctx, query, secret);
        const session = await codeHostSignIn(ctx, profile, userAgentOf(c), DISOWNED);
        if ("firstStep" in session) {
          setFirstStepCookie(c, ctx.env, session);
          target.searchParams.set("error", secondFactorRequired().code);
        } else setSessionCookies(c, ctx.env, session.accessToken, session.refreshToken);
      } catch (error) {
        target.searchParams.set("error", errorCode(ctx, error));
      }
      return redirect(c, target.href);
    },
  }),
];
