import { covers, type Grant } from "./api-keys/scopes.ts";

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
  /** The SHA-256 of the key itself: a rotation makes it another one. */
  keyHash: string;
}

/** Somebody with an account. */
export type UserPrincipal = SessionPrincipal | KeyPrincipal;

/** Whoever calls. */
export type Principal = Anonymous | UserPrincipal;

/** The caller's account, or null: what visibility clauses take. */
export function viewerId(principal: Principal): string | null {
  return principal.kind === "anonymous" ? null : principal.userId;
}

/** The same for what single runs say, wherever it stands: a key without `runs:read` sees of them what everybody does. */
export function runsViewerId(principal: Principal): string | null {
  return principal.kind === "key" && !covers(principal, "runs:read") ? null : viewerId(principal);
}

/** Whoever does things: an account, or the key of a workspace, which alone has a `teamOwnerId`. */
type Actor = Pick<SessionPrincipal, "userId"> & Partial<Pick<KeyPrincipal, "teamOwnerId">>;

/** The account in whose name somebody does things: what is made says so. */
export function actorId({ userId, teamOwnerId }: Actor): string {
  return teamOwnerId ?? userId;
}

/** The workspace that somebody is the key of; null for everybody else. */
export function workspaceOf({ userId, teamOwnerId }: Actor): string | null {
  return teamOwnerId == null ? null : userId;
}
