import { Buffer } from "node:buffer";
import { generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { issueAccessToken } from "../../shared/identity/sessions/access-token.ts";
import { newApiKey } from "../../shared/identity/api-keys/api-key.ts";
import type { Context } from "../../shared/platform/context.ts";

const USER = "01938e7a-0000-7000-8000-000000000001";
const SESSION = "01938e7a-0000-7000-8000-000000000002";

/** An access token as sign-in issues it. */
export const genuineToken = (ctx: Context): Promise<string> => issueAccessToken(ctx, USER, SESSION);

/** Access tokens each of which is wrong in one respect alone, by that respect. */
export async function badTokens(ctx: Context): Promise<Record<string, string>> {
  const { active } = await ctx.keys();
  const genuine = await genuineToken(ctx);
  const [head = "", body = "", mark = ""] = genuine.split(".");
  const claims = JSON.parse(Buffer.from(body, "base64url").toString()) as JWTPayload;
  const header = { alg: "EdDSA", typ: "at+jwt", kid: active.thumbprint };
  const stranger = await generateKeyPair("EdDSA", { crv: "Ed25519" });
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const sign = (changed: object, payload: object = claims) =>
    new SignJWT({ ...payload }).setProtectedHeader({ ...header, ...changed }).sign(active.privateKey);
  const { sid: _sid, ...withoutSession } = claims;
  return {
    "no token": "nonsense",
    "signed by a stranger": await new SignJWT(claims).setProtectedHeader(header).sign(stranger.privateKey),
    "keyed with the public key": await new SignJWT(claims)
      .setProtectedHeader({ ...header, alg: "HS256" })
      .sign(Buffer.from(active.publicJwk.x, "base64url")),
    unsigned: `${encode({ ...header, alg: "none" })}.${body}.`,
    "of changed content": `${head}.${encode({ ...claims, sub: SESSION })}.${mark}`,
    "of an unknown key": await sign({ kid: "unknown" }),
    "of another type": await sign({ typ: "JWT" }),
    "for another service": await sign({}, { ...claims, aud: "https://other.example.test" }),
    "by another service": await sign({}, { ...claims, iss: "https://other.example.test" }),
    "without a session": await sign({}, withoutSession),
    expired: await sign({}, { ...claims, exp: (claims.iat ?? 0) - 1 }),
    "not valid yet": await sign({}, { ...claims, nbf: (claims.exp ?? 0) - 1 }),
  };
}

/** Texts that no API key can be, by what is wrong with them: nothing has to be looked up to refuse them. */
export function badApiKeys(): Record<string, string> {
  const key = newApiKey();
  const last = key.endsWith("0") ? "1" : "0";
  return {
    nonsense: "nonsense",
    "a wrong checksum": key.slice(0, -1) + last,
    "too short": key.slice(0, -1),
    "too long": `${key}0`,
    "another prefix": key.replace("ask_", "ksa_"),
  };
}
