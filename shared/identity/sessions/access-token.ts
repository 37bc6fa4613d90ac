import type { JWTPayload } from "jose";
import type { Context } from "../../platform/context.ts";
import type { Env } from "../../platform/env.ts";
import { createLru, type Lru } from "../../platform/lru.ts";
import type { SessionPrincipal } from "../principal.ts";

/** Seconds an access token lives. */
export const ACCESS_TOKEN_SECONDS = 900;

// The library is loaded by the first request of a session that is not remembered: all others do without.
const jwt = () => import("./jwt.ts");

/** An access token for a session. */
export async function issueAccessToken(ctx: Context, userId: string, sessionId: string): Promise<string> {
  const { signJwt } = await jwt();
  return signJwt(ctx, userId, sessionId, ACCESS_TOKEN_SECONDS);
}

type Session = Omit<SessionPrincipal, "viaCookie">;

interface Known {
  session: Session;
  /** Unix milliseconds. */
  notBefore: number;
}

const MAX_KNOWN = 1000;
/** Tokens that were found good under these settings: of a text only the clock can change that. */
const known = new WeakMap<Env, Lru<string, Known>>();

/** The session that a token speaks for; null unless it is ours, of this type, EdDSA-signed, and in force by the clock. */
export async function verifyAccessToken(ctx: Context, token: string): Promise<Session | null> {
  const remembered = known.get(ctx.env)?.get(token);
  if (remembered !== undefined) {
    const now = ctx.now().getTime();
    const { session, notBefore } = remembered;
    return notBefore <= now && now < session.expiresAt.getTime() ? session : null;
  }
  const { verifyJwt } = await jwt();
  const payload = await verifyJwt(ctx, token);
  const session = payload === null ? null : toPrincipal(payload);
  if (session !== null) remember(ctx.env, token, { session, notBefore: (payload?.nbf ?? 0) * 1000 });
  return session;
}

function remember(env: Env, token: string, found: Known): void {
  const tokens = known.get(env) ?? createLru<string, Known>(MAX_KNOWN);
  known.set(env, tokens);
  tokens.add(token, found);
}

/** The session that a token was made for, if it is ours by its signature and form: whether in force by the clock or not. */
export async function signedSession(ctx: Context, token: string): Promise<Session | null> {
  const { verifyJwt } = await jwt();
  const payload = await verifyJwt(ctx, token, { clockTolerance: Number.MAX_SAFE_INTEGER });
  return payload === null ? null : toPrincipal(payload);
}

function toPrincipal({ sub, sid, jti, exp }: JWTPayload): Session | null {
  if (typeof sub !== "string" || typeof sid !== "string" || typeof jti !== "string" || exp === undefined) return null;
  return { kind: "session", userId: sub, sessionId: sid, tokenId: jti, expiresAt: new Date(exp * 1000) };
}
