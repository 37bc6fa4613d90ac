import { type JWTPayload, type JWTVerifyOptions, errors, jwtVerify, SignJWT } from "jose";
import type { Context } from "../../platform/context.ts";
import { newId } from "../../platform/ids.ts";

const TYPE = "at+jwt";

/**
 * A JWT (RFC 9068 typ) signed by the service's active Ed25519 key, in force for some seconds. It names no beginning: where it
 * is used next, the clock may be behind the one here.
 */
export async function signJwt(ctx: Context, userId: string, sessionId: string, seconds: number): Promise<string> {
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
    .setExpirationTime(issued + seconds)
    .sign(active.privateKey);
}

/** What a JWT claims; null unless it is ours, of this type, EdDSA-signed, and in force by the clock. */
export async function verifyJwt(
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
