import { type JWTPayload, type JWTVerifyOptions, errors, jwtVerify, SignJWT } from "jose";
import type { Context } from "../../platform/context.ts";
import type { Env } from "../../platform/env.ts";
import { newId } from "../../platform/ids.ts";
import type { SessionPrincipal } from "../principal.ts";

/** Seconds an access token lives. */
export const ACCESS_TOKEN_SECONDS = 900;

const TYPE = "at+jwt";

/** An access token for a session: a JWT (RFC 9068 typ) signed by the service's active Ed25519 key. */
export async function issueAccessToken(ctx: Context, userId: string, sessionId: string): Promise<string> {
  const { active } = await ctx.keys();
  const now = ctx.now();
  const issued = Math.floor(now.getTime() / 1000);
  return new SignJWT({ sid: sessionId })
    .setProtectedHeader({ alg: "EdDSA", typ: TYPE, kid: active.thumbprint })
    .setIssuer(ctx.env.BASE_URL)
    .setAudience(ctx.env.BASE_URL)
    .setSubject(userId)
    .setJti(newId(now))
    .setIssuedAt(issued)
    .setNotBefore(issued)
    .setExpirationTime(issued + ACCESS_TOKEN_SECONDS)
    .sign(active.privateKey);
}

type Session = Omit<SessionPrincipal, "viaCookie">;

interface Known {
  session: Session;
  /** Unix milliseconds. */
  notBefore: number;
}

const MAX_KNOWN = 1000;
/** Tokens that were found good under these settings: of a text only the clock can change that. */
const known = new WeakMap<Env, Map<string, Known>>();

/** The session that a token speaks for; null unless it is ours, of this type, EdDSA-signed, and in force by the clock. */
export async function verifyAccessToken(ctx: Context, token: string): Promise<Session | null> {
  const remembered = known.get(ctx.env)?.get(token);
  if (remembered !== undefined) {
    const now = ctx.now().getTime();
    const { session, notBefore } = remembered;
    return notBefore <= now && now < session.expiresAt.getTime() ? session : null;
  }
  const payload = await verifiedPayload(ctx, token);
  const session = payload === null ? null : toPrincipal(payload);
  if (session !== null) remember(ctx.env, token, { session, notBefore: (payload?.nbf ?? 0) * 1000 });
  return session;
}

function remember(env: Env, token: string, found: Known): void {
  const tokens = known.get(env) ?? new Map<string, Known>();
  known.set(env, tokens);
  const oldest = tokens.size >= MAX_KNOWN ? tokens.keys().next().value : undefined;
  if (oldest !== undefined) tokens.delete(oldest);
  tokens.set(token, found);
}

/** The session that a token was made for, if it is ours by its signature and form: whether in force by the clock or not. */
export async function signedSession(ctx: Context, token: string): Promise<Session | null> {
  const payload = await verifiedPayload(ctx, token, { clockTolerance: Number.MAX_SAFE_INTEGER });
  return payload === null ? null : toPrincipal(payload);
}

async function verifiedPayload(
  ctx: Context,
  token: string,
  options: Pick<JWTVerifyOptions, "clockTolerance"> = {},
): Promise<JWTPayload | null> {
  const keys = await ctx.keys();
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => {
        const key = keys.all.find(({ thumbprint }) => thumbprint === kid);
        if (key === undefined) throw new errors.JWKSNoMatchingKey();
        return key.publicKey;
      },
      {
        algorithms: ["EdDSA"],
        typ: TYPE,
        issuer: ctx.env.BASE_URL,
        audience: ctx.env.BASE_URL,
        requiredClaims: ["sub", "sid", "jti", "iat", "exp"],
        currentDate: ctx.now(),
        ...options,
      },
    );
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

function toPrincipal({ sub, sid, jti, exp }: JWTPayload): Session | null {
  if (typeof sub !== "string" || typeof sid !== "string" || typeof jti !== "string" || exp === undefined) return null;
  return { kind: "session", userId: sub, sessionId: sid, tokenId: jti, expiresAt: new Date(exp * 1000) };
}
