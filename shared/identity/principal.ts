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
  /** The account that the key acts for; for a workspace's key the id of the workspace, which sees what belongs to it. */
  userId: string;
  /** For a workspace's key, the account that owns the workspace: in its name the key does things. Null for an account's key. */
  teamOwnerId: string | null;
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

/** The account in whose name a caller does things: what is made says so. */
export function actorId(principal: UserPrincipal): string {
  return principal.kind === "key" ? (principal.teamOwnerId ?? principal.userId) : principal.userId;
}

/** The workspace that the caller is the key of; null for everybody else. */
export function workspaceOf(principal: Principal): string | null {
  return principal.kind === "key" && principal.teamOwnerId !== null ? principal.userId : null;
}
