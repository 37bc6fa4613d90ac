import { getCookie } from "hono/cookie";
import type { Context as HonoContext } from "hono";
import { authenticateKey, keyDecidesWrites, type KeyUse } from "../identity/api-keys/api-key.ts";
import { verifyAccessToken } from "../identity/sessions/access-token.ts";
import { covers, type Scope } from "../identity/api-keys/scopes.ts";
import type { Principal, SessionPrincipal } from "../identity/principal.ts";
import { sessionHoldsByRead } from "../identity/sessions/deny.ts";
import type { Context } from "../platform/context.ts";
import { sha256 } from "../platform/crypto.ts";
import { Problem } from "../platform/problem.ts";
import { SESSION_COOKIE } from "./cookie-names.ts";
import { assertWithin, countAddress, countCaller, type LimitName, type Standing } from "./limits.ts";

/** Bearer tokens of an endpoint's own kind, which its handler checks. */
export interface OwnTokens {
  /** Whether a bearer token is of this kind, and no account's. */
  are(token: string): boolean;
  /** Whether the service made it for what the request names: such a request counts as the token's, not as its address's. */
  isOurs(ctx: Context, c: HonoContext, token: string): boolean;
}

/** What a request presents: nothing, an API key, or an access token. */
type Presented = { kind: "none" } | { kind: "key"; key: string } | { kind: "token"; token: string; viaCookie: boolean };

function presented(c: HonoContext): Presented {
  return inHeaders(c) ?? inCookie(c);
}

function inHeaders(c: HonoContext): Presented | null {
  const header = c.req.header("x-api-key");
  if (header !== undefined) return { kind: "key", key: header };
  const authorization = c.req.header("authorization");
  if (authorization === undefined) return null;
  const token = /^Bearer +([^\s]+)$/i.exec(authorization)?.[1] ?? "";
  return token.startsWith("ask_") ? { kind: "key", key: token } : { kind: "token", token, viaCookie: false };
}

function inCookie(c: HonoContext): Presented {
  const cookie = getCookie(c, SESSION_COOKIE);
  return cookie === undefined ? { kind: "none" } : { kind: "token", token: cookie, viaCookie: true };
}

/** The bearer token of a request, unchecked, for endpoints with a kind of credentials of their own. */
export function bearerToken(c: HonoContext): string | null {
  return /^Bearer +([^\s]+)$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? null;
}

/** Who calls: as the credential itself tells, and as Redis or the database confirms. */
export interface Admission {
  /** The caller by a credential that proves itself; null where only the database can tell. */
  claimed: Principal | null;
  /** Confirms the caller and counts the request, once; rejects if either is refused. */
  confirm: () => Promise<Principal>;
}

/**
 * Finds out who calls, and how that is confirmed and the request counted against the key's quotas or the address's bucket:
 * one round trip to Redis at most, beside what a read asks of the database. A stale cookie makes the caller anonymous; a
 * bad Authorization or X-API-Key rejects with 401, but where `cookiesOnly` leaves these headers unread. `onStanding` is called before anything is thrown, so that refused
 * callers get the headers of the limit as well.
 */
export async function admit(
  ctx: Context,
  c: HonoContext,
  { limit, ownTokens, cookiesOnly }: { limit: LimitName; ownTokens: OwnTokens | undefined; cookiesOnly: boolean },
  onStanding: (standing: Standing) => void,
): Promise<Admission> {
  const sent = cookiesOnly ? inCookie(c) : presented(c);
  const ownToken = ownTokens !== undefined && sent.kind === "token" && ownTokens.are(sent.token) ? sent.token : null;
  const credentials: Presented = ownToken === null ? sent : { kind: "none" };
  if (credentials.kind === "key")
    return { claimed: null, confirm: once(() => admitKey(ctx, credentials.key, limit, onStanding)) };

  const viaCookie = credentials.kind === "token" && credentials.viaCookie;
  const token = credentials.kind === "token" ? await verifyAccessToken(ctx, credentials.token) : null;
  const session: SessionPrincipal | null = token === null ? null : { ...token, viaCookie };
  const bad = credentials.kind === "token" && !viaCookie;
  const sessionHolds = session === null ? () => false : sessionHoldsByRead(ctx, session);
  const counted = (): Promise<Standing | null> =>
    ownToken !== null && ownTokens?.isOurs(ctx, c, ownToken) === true
      ? countCaller(ctx, limit, sha256(ownToken))
      : countAddress(ctx, limit);
  const confirm = async (): Promise<Principal> => {
    const [standing, holds] = await Promise.all([counted(), sessionHolds()]);
    if (standing !== null) {
      onStanding(standing);
      assertWithin(standing);
    }
    if (session === null || !holds) {
      if (bad) throw badCredentials();
      return { kind: "anonymous" };
    }
    if (viaCookie) assertSameSite(ctx, c);
    return session;
  };
  return { claimed: session ?? (bad ? null : { kind: "anonymous" }), confirm: once(confirm) };
}

function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let begun: Promise<Result> | undefined;
  return () => (begun ??= work());
}

/** A request with an unknown key is counted against the address that it comes from. */
async function admitKey(
  ctx: Context,
  key: string,
  limit: LimitName,
  onStanding: (standing: Standing) => void,
): Promise<Principal> {
  const use = await authenticateKey(ctx, key);
  const standing = use === null ? await countAddress(ctx, limit) : keyStanding(use);
  if (standing !== null) {
    onStanding(standing);
    assertWithin(standing);
  }
  if (use === null) throw badCredentials();
  ctx.question = keyDecidesWrites(use.principal);
  return use.principal;
}

function badCredentials(): Problem {
  return new Problem(
    "unauthenticated",
    "The credentials are unknown, expired or revoked. Sign in again, or use another API key.",
    { headers: { "WWW-Authenticate": 'Bearer error="invalid_token"' } },
  );
}

function keyStanding({ minute, day }: KeyUse): Standing {
  const windows = [
    { name: "minute" as const, ...minute },
    { name: "day" as const, ...day },
  ];
  return { windows, refused: windows.find(({ refused }) => refused) ?? null };
}

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** The values of `Sec-Fetch-Site` for requests by the service's own pages, or by the user directly. */
const OWN_SITE = new Set(["same-origin", "none"]);

/**
 * Throws `cross_site_request` where a page of another site than the service's own and the listed ones sent the request. A
 * browser sends cookies with every request; with an unsafe method it says which site's page made it, by `Origin` or, where
 * that is missing, by `Sec-Fetch-Site`. A request with neither header was not sent by a browser.
 */
export function assertSameSite(ctx: Context, c: HonoContext): void {
  if (SAFE_METHODS.has(c.req.method)) return;
  const origin = c.req.header("origin");
  if (origin === undefined ? OWN_SITE.has(c.req.header("sec-fetch-site") ?? "none") : isTrustedOrigin(ctx, origin))
    return;
  throw new Problem(
    "cross_site_request",
    "Only this service's own pages may send its cookies; API clients send the token in the Authorization header.",
  );
}

/** Whether an Origin is the service's own or listed in ALLOWED_ORIGINS. */
export function isTrustedOrigin(ctx: Context, origin: string): boolean {
  return origin === ctx.env.BASE_URL || ctx.env.ALLOWED_ORIGINS.includes(origin);
}

/** Throws `insufficient_scope` for an API key that lacks the scope, if one is `needed`. */
export function assertScope(principal: Principal, needed: Scope | null): void {
  if (principal.kind !== "key" || needed === null || covers(principal, needed)) return;
  throw new Problem("insufficient_scope", `This API key lacks the scope ${needed}; use a key that has it.`, {
    headers: { "WWW-Authenticate": `Bearer error="insufficient_scope", scope="${needed}"` },
  });
}
