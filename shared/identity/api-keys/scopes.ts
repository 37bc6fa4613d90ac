import type { KEY_SCOPES } from "../../db/schema/index.ts";

/** A scope of a key, such as `runs:write`. */
export type Scope = (typeof KEY_SCOPES)[number];

/** What a scope allows; `write` includes `read`. */
export type Access = "read" | "write";

/** What keys have a say in; everything else is a person's alone, or open to all. */
export type Subject = Scope extends `${infer S}:${Access}` ? S : never;

/** What a key was made with: `scopes` where they were named, else null, and `scope` holds for agents and runs. */
export interface Grant {
  scope: Access;
  scopes: readonly Scope[] | null;
}

/** What `scope` alone stands for: what keys could do before scopes could be named. */
const UNNAMED: Readonly<Record<Access, readonly Scope[]>> = {
  read: ["agents:read", "runs:read"],
  write: ["agents:write", "runs:write"],
};

/** All that a key may do; each `write` includes its `read`. */
export function scopesOf({ scope, scopes }: Grant): readonly Scope[] {
  return scopes ?? UNNAMED[scope];
}

/**
 * Whether a key has a scope, by itself or by the `write` of the same subject.
 *
 * @example
 * covers({ scope: "write", scopes: ["runs:write"] }, "runs:read") // true
 * covers({ scope: "write", scopes: ["runs:write"] }, "agents:read") // false
 * covers({ scope: "read", scopes: null }, "agents:read") // true
 */
export function covers(grant: Grant, needed: Scope): boolean {
  const has = scopesOf(grant);
  return has.some((one) => one === needed || one === needed.replace(":read", ":write"));
}

/** What a key is made with, by what was asked for: `scope` says whether any of `scopes` writes. */
export function grantOf({ scope, scopes }: { scope?: Access | undefined; scopes?: Scope[] | undefined }): Grant {
  if (scopes === undefined) return { scope: scope ?? "read", scopes: null };
  return { scope: scopes.some((one) => one.endsWith(":write")) ? "write" : "read", scopes: [...new Set(scopes)] };
}
