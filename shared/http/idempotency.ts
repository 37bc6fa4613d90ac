import type { Context as HonoContext } from "hono";
import type { Idempotency } from "../platform/context.ts";
import { sha256 } from "../platform/crypto.ts";
import { findingsProblem } from "./validation.ts";
import type { HttpContext } from "./variables.ts";

const KEY = /^[\x21-\x7e]{1,255}$/;

/** `key`, if it may be an Idempotency-Key. Throws 422 for one that is not 1 to 255 visible ASCII. */
export function idempotencyKey(key: string): string {
  if (KEY.test(key)) return key;
  throw findingsProblem([
    {
      in: "header",
      pointer: "/Idempotency-Key",
      code: "invalid_format",
      message: "An Idempotency-Key is 1 to 255 visible ASCII characters.",
    },
  ]);
}

/** The Idempotency-Key of a request, or null without one. Throws 422 as `idempotencyKey` does. */
export function idempotencyOf(
  c: HonoContext,
  callers: Pick<Idempotency, "caller" | "callerBefore">,
  body: unknown,
): Idempotency | null {
  const given = c.req.header("idempotency-key");
  if (given === undefined) return null;
  const key = idempotencyKey(given);
  const fingerprint = sha256(JSON.stringify([c.req.method, c.req.path, canonical(body)]));
  return { ...callers, key, fingerprint, replayed: false };
}

/** Headers that differ between clients behind one address, and stay the same when one client tries again. */
const TRAITS = ["user-agent", "accept-language", "origin"];

/** Whom an Idempotency-Key belongs to: the account, else the client by its names of today and yesterday. */
export function callersOf(c: HttpContext, account: string | null): Pick<Idempotency, "caller" | "callerBefore"> {
  if (account !== null) return { caller: account };
  const { addressHash, addressHashBefore } = c.get("ctx");
  return { caller: stranger(c, addressHash), callerBefore: [stranger(c, addressHashBefore)] };
}

/**
 * The name of a client without an account. Many clients share an address, so they are told apart by what their software
 * says of itself; others with the same software there are kept out only by a key that they can't guess.
 */
function stranger(c: HttpContext, addressHash: string | null): string {
  return `address:${sha256(JSON.stringify([addressHash, ...TRAITS.map((name) => c.req.header(name))]))}`;
}

/** The same JSON with the members of each object in alphabetical order. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, child]) => [key, canonical(child)]),
  );
}
