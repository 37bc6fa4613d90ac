import { type JWTPayload, errors, jwtVerify, SignJWT } from "jose";
import type { Context } from "../platform/context.ts";
import { newId } from "../platform/ids.ts";
import type { SessionPrincipal } from "./principal.ts";

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

/** The session that a token speaks for; null unless it is ours, of this type, EdDSA-signed, and in force by the clock. */
export async function verifyAccessToken(
  ctx: Context,
  token: string,
): Promise<Omit<SessionPrincipal, "viaCookie"> | null> {
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
      },
    );
    return toPrincipal(payload);
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

function toPrincipal({ sub, sid, jti, exp }: JWTPayload): Omit<SessionPrincipal, "viaCookie"> | null {
  if (typeof sub !== "string" || typeof sid !== "string" || typeof jti !== "string" || exp === undefined) return null;
  return { kind: "session", userId: sub, sessionId: sid, tokenId: jti, expiresAt: new Date(exp * 1000) };
}
