import * as oauth from "oauth4webapi";
import * as z from "zod";
import type { Context } from "../../platform/context.ts";
import { randomToken, sha256 } from "../../platform/crypto.ts";
import { patience } from "../../platform/patience.ts";

const GITHUB = "https://github.com";
const GITHUB_API = "https://api.github.com";
const USER_AGENT = "AgentScreening/1.0";
const TIMEOUT_MS = 10_000;

/** Where the code host sends the browser back to. */
export const CALLBACK_PATH = "/api/v1/auth/codehost/callback";

/** Why a sign-in by the code host ended without one: the `error` that the frontend gets. */
export type CodeHostError =
  | "access_denied"
  | "invalid_state"
  | "email_not_verified"
  | "code_host_unavailable"
  | "code_host_not_configured";

/** A sign-in by the code host that ended without one. */
export class CodeHostFailure extends Error {
  readonly code: CodeHostError;

  constructor(code: CodeHostError, options?: ErrorOptions) {
    super(code, options);
    this.name = "CodeHostFailure";
    this.code = code;
  }
}

/** Somebody as the code host knows them; `email` is their verified primary address, or null where that is none here. */
export interface CodeHostProfile {
  provider: "github" | "dev";
  providerUserId: string;
  email: string | null;
}

/** Whom the dev callback signs in, where no code host is configured. */
export const DEVELOPER: CodeHostProfile = {
  provider: "dev",
  providerUserId: "developer",
  email: "developer@example.test",
};

/** What the code host's answer carries back. */
interface Callback {
  code: string;
  state: string;
  error: string;
}

/** How sign-in by a code host works here: by GitHub, by the dev callback, or not at all. */
export function codeHostMode({ env }: Pick<Context, "env">): "github" | "dev" | "off" {
  if (env.GITHUB_CLIENT_ID !== undefined && env.GITHUB_CLIENT_SECRET !== undefined) return "github";
  return env.ENVIRONMENT === "production" || env.GITHUB_CLIENT_ID !== undefined ? "off" : "dev";
}

/**
 * The address that starts a sign-in at GitHub by OAuth 2 with PKCE (RFC 7636), and the secret for a cookie of the browser
 * that started it: the verifier, of which `state` is a digest. So only that browser can end what it began.
 */
export async function beginCodeHost(ctx: Context): Promise<{ url: string; secret: string }> {
  const secret = randomToken();
  const url = new URL(server(ctx).authorization_endpoint);
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: client(ctx).client_id,
    redirect_uri: ctx.env.BASE_URL + CALLBACK_PATH,
    scope: "user:email",
    state: stateOf(secret),
    code_challenge: await oauth.calculatePKCECodeChallenge(secret),
    code_challenge_method: "S256",
  }).toString();
  return { url: url.href, secret };
}

/** Who signed in at GitHub, from its answer and the browser's secret. Throws CodeHostFailure. */
export async function endCodeHost(
  ctx: Context,
  { code, state, error }: Callback,
  secret: string | undefined,
): Promise<CodeHostProfile> {
  if (secret === undefined) throw new CodeHostFailure("invalid_state");
  const answer = new URLSearchParams(error === "" ? { code, state } : { error, state });
  let parameters: URLSearchParams;
  try {
    parameters = oauth.validateAuthResponse(server(ctx), client(ctx), answer, stateOf(secret));
  } catch (cause) {
    // Only an answer whose state is this browser's own gets as far as being an error of the code host.
    if (!(cause instanceof oauth.AuthorizationResponseError)) throw new CodeHostFailure("invalid_state");
    if (cause.error === "access_denied") throw new CodeHostFailure("access_denied");
    throw new CodeHostFailure("code_host_unavailable", { cause });
  }
  try {
    return await readProfile(ctx, await exchange(ctx, parameters, secret));
  } catch (cause) {
    throw new CodeHostFailure("code_host_unavailable", { cause });
  }
}

/** `state` is public, the verifier is not: a digest under another name than the challenge's. */
function stateOf(secret: string): string {
  return sha256(`state:${secret}`);
}

function server({ env }: Context) {
  const base = env.GITHUB_BASE ?? GITHUB;
  return {
    issuer: `${base}/login/oauth`,
    authorization_endpoint: `${base}/login/oauth/authorize`,
    token_endpoint: `${base}/login/oauth/access_token`,
  } satisfies oauth.AuthorizationServer;
}

function client({ env }: Context): oauth.Client {
  return { client_id: env.GITHUB_CLIENT_ID ?? "" };
}

async function exchange(ctx: Context, parameters: URLSearchParams, verifier: string): Promise<string> {
  const { GITHUB_CLIENT_SECRET = "", GITHUB_BASE, BASE_URL } = ctx.env;
  const response = await oauth.authorizationCodeGrantRequest(
    server(ctx),
    client(ctx),
    oauth.ClientSecretPost(GITHUB_CLIENT_SECRET),
    parameters,
    BASE_URL + CALLBACK_PATH,
    verifier,
    {
      [oauth.customFetch]: (url, init) => ctx.fetch(url, init),
      [oauth.allowInsecureRequests]: GITHUB_BASE !== undefined,
      headers: { "User-Agent": USER_AGENT },
      signal: () => patience(TIMEOUT_MS),
    },
  );
  const { access_token } = await oauth.processAuthorizationCodeResponse(server(ctx), client(ctx), response);
  return access_token;
}

const User = z.object({ id: z.int() });
/** The code host takes addresses that are none here, in other scripts for one: of somebody's others nothing is asked. */
const Emails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

async function readProfile(ctx: Context, token: string): Promise<CodeHostProfile> {
  const [user, emails] = await Promise.all([
    readApi(ctx, token, "/user", User),
    // The primary one may be anywhere in the list, which has 30 unless more are asked for.
    readApi(ctx, token, "/user/emails?per_page=100", Emails),
  ]);
  const primary = emails.find((email) => email.primary && email.verified);
  // Judged as it came: in the form in which addresses are stored it could be somebody else's.
  const { data: email = null } = z.email().safeParse(primary?.email);
  return { provider: "github", providerUserId: String(user.id), email };
}

async function readApi<T>(ctx: Context, token: string, path: string, schema: z.ZodType<T>): Promise<T> {
  const { GITHUB_BASE } = ctx.env;
  const api = GITHUB_BASE === undefined ? GITHUB_API : `${GITHUB_BASE}/api/v3`;
  const response = await ctx.fetch(api + path, {
    headers: {
      Accept: "application/vnd.github+json",
      Authorization: `Bearer ${token}`,
      "User-Agent": USER_AGENT,
      "X-GitHub-Api-Version": "2022-11-28",
    },
    redirect: "manual",
    signal: patience(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`GitHub answered ${response.status} at ${path}`);
  return schema.parse(await response.json());
}
