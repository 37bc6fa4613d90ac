import { getCookie } from "hono/cookie";
import * as z from "zod";
import { FIRST_STEP_COOKIE, REFRESH_COOKIE, SESSION_COOKIE } from "../../shared/http/cookie-names.ts";
import { assertSameSite, bearerToken } from "../../shared/http/credentials.ts";
import { created, ok } from "../../shared/http/reply.ts";
import { route } from "../../shared/http/route.ts";
import { login } from "../../shared/identity/sessions/sign-in.ts";
import { logout } from "../../shared/identity/sessions/sign-out.ts";
import { refresh } from "../../shared/identity/sessions/refresh.ts";
import { register } from "../../shared/identity/register.ts";
import { LoginRequest, UserCreate } from "../../shared/identity/schemas.ts";
import { TokenResponse } from "../../shared/identity/shown.ts";
import { completeSignIn } from "../../shared/identity/second-factor/complete.ts";
import { secondFactorRequired } from "../../shared/identity/second-factor/first-step.ts";
import { SecondFactorCode } from "../../shared/identity/second-factor/schemas.ts";
import { Problem } from "../../shared/platform/problem.ts";
import { clearFirstStepCookie, clearSessionCookies, setFirstStepCookie, setSessionCookies } from "./cookies.ts";
import { letIn, userAgentOf } from "./token-response.ts";

const Done = z.object({ ok: z.literal(true) }).meta({ id: "Done" });
const tag = "Accounts";

export const auth = [
  route({
    id: "register",
    method: "post",
    path: "/api/v1/auth/register",
    tag,
    summary: "Create an account and sign in",
    description: "Sets the session and refresh cookies. The access token is in the body too, for API clients.",
    auth: "none",
    limit: "auth",
    body: UserCreate,
    returns: { 201: TokenResponse },
    problems: ["weak_password", "email_taken", "username_taken"],
    async handler({ ctx, body, c }) {
      const session = await register(ctx, body, userAgentOf(c));
      return created(letIn(c, ctx, session));
    },
  }),
  route({
    id: "login",
    method: "post",
    path: "/api/v1/auth/login",
    tag,
    summary: "Sign in with email and password",
    description:
      "After 5 failures on an account or 50 from an address within 15 minutes, or 150 from an address within an hour, " +
      "the answer is 429 `login_locked`, the same bytes each time. 503 when the counters can't be reached. An account with " +
      "an authenticator app needs `totp_code` or `recovery_code`, of which each is taken once: without one the right " +
      "password gets 401 `second_factor_required`, and a cookie with which POST /api/v1/auth/second-factor ends the " +
      "sign-in within 10 minutes. A wrong code counts as a wrong password does.",
    auth: "none",
    limit: "auth",
    body: LoginRequest,
    returns: { 200: TokenResponse },
    problems: [
      "invalid_credentials",
      "second_factor_required",
      "invalid_second_factor",
      "login_locked",
      "dependency_unavailable",
      "conflicting_parameters",
    ],
    async handler({ ctx, body, c }) {
      const session = await login(ctx, body, userAgentOf(c));
      if ("firstStep" in session) {
        setFirstStepCookie(c, ctx.env, session);
        throw secondFactorRequired();
      }
      return ok(letIn(c, ctx, session));
    },
  }),
  route({
    id: "completeSignIn",
    method: "post",
    path: "/api/v1/auth/second-factor",
    tag,
    summary: "End a sign-in by its second factor",
    description:
      `Takes the cookie \`${FIRST_STEP_COOKIE}\`, which a sign-in that answered \`second_factor_required\` set, and a code of ` +
      "the authenticator app or a recovery code; each is taken once. A wrong code counts as a failed sign-in, with its " +
      "lockout. Where the first step is missing, over 10 minutes ago, or of a password that was changed since, the answer " +
      "is 400 `invalid_token`.",
    auth: "none",
    needs: "firstStep",
    limit: "auth",
    body: SecondFactorCode,
    returns: { 200: TokenResponse },
    problems: [
      "invalid_token",
      "invalid_second_factor",
      "login_locked",
      "dependency_unavailable",
      "cross_site_request",
    ],
    async handler({ ctx, body, c }) {
      const firstStep = getCookie(c, FIRST_STEP_COOKIE);
      if (firstStep !== undefined) assertSameSite(ctx, c);
      const session = await completeSignIn(ctx, firstStep, body, userAgentOf(c));
      clearFirstStepCookie(c, ctx.env);
      return ok(letIn(c, ctx, session));
    },
  }),
  route({
    id: "refresh",
    method: "post",
    path: "/api/v1/auth/refresh",
    tag,
    summary: "Replace the refresh credential and get a new access token",
    description:
      `Takes the cookie \`${REFRESH_COOKIE}\`. A credential works once; one that comes a second time ends its whole session. ` +
      "On any failure both cookies are cleared. A request by another site's page is 403, and the credential stays good.",
    auth: "none",
    needs: "refresh",
    limit: "refresh",
    returns: { 200: Done },
    problems: ["invalid_refresh", "cross_site_request"],
    async handler({ ctx, c }) {
      const token = getCookie(c, REFRESH_COOKIE);
      if (token !== undefined) assertSameSite(ctx, c);
      try {
        if (token === undefined) throw new Problem("invalid_refresh", "There is no refresh credential. Sign in.");
        const next = await refresh(ctx, token);
        setSessionCookies(c, ctx.env, next.accessToken, next.refreshToken);
        return ok({ ok: true });
      } catch (error) {
        if (error instanceof Problem && error.status === 401) clearSessionCookies(c, ctx.env);
        throw error;
      }
    },
  }),
  route({
    id: "logout",
    method: "post",
    path: "/api/v1/auth/logout",
    tag,
    summary: "Sign out on this device",
    description:
      "The session's access tokens and its refresh credential stop working at once; other devices stay signed in. " +
      "The session is that of the cookie, else that of the bearer token, even if that has expired. With any other " +
      "credential, or none, there is nothing to end; the answer is the same, and both cookies are cleared.",
    auth: "none",
    needs: "ending",
    limit: "write",
    returns: { 200: Done },
    problems: ["cross_site_request"],
    async handler({ ctx, c }) {
      const bearer = bearerToken(c);
      // The answer clears the cookies, so another site's form could sign a browser out even though it sends none.
      if (bearer === null || getCookie(c, SESSION_COOKIE) !== undefined) assertSameSite(ctx, c);
      await logout(
        ctx,
        [getCookie(c, SESSION_COOKIE), bearer].filter((token) => token != null),
      );
      clearSessionCookies(c, ctx.env);
      return ok({ ok: true });
    },
  }),
];
