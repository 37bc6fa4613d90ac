import type { Grant } from "./api-keys/scopes.ts";

/** A caller without credentials. */
export interface Anonymous {
  kind: "anonymous";
}

/** A signed-in caller; `viaCookie` tells that a browser may have sent the credentials unasked. */
export interface SessionPrincipal {
  kind: "session";
  userId: string;
  sessionId: string;
  tokenId: string;
  /** When the access token dies. */
  expiresAt: Date;
  viaCookie: boolean;
}

/** A caller with an API key, which may do what its grant says. */
export interface KeyPrincipal extends Grant {
  kind: "key";
  userId: string;
  keyId: string;
}

/** Somebody with an account. */
export type UserPrincipal = SessionPrincipal | KeyPrincipal;

/** Whoever calls. */
export type Principal = Anonymous | UserPrincipal;

/** The caller's account, or null: what visibility clauses take. */
export function viewerId(principal: Principal): string | null {
  return principal.kind === "anonymous" ? null : principal.userId;
}
